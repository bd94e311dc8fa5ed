"""JSON values to arrays and back, as TensorFlow Serving maps them."""

import base64
import math

import numpy as np

from keras_seqattn.serving.refused import bad_request, shown

MOST_AXES = 32  # of NumPy, at the least
CHUNK = 65_536  # numbers that are strings at once, of 128 bytes each


def to_array(name, value, spec):
    """A tensor in nested lists as an array.

    Args:
        name: of the input, for errors.
        value: as JSON has it.
        spec: `Spec`.
    """
    shape = _shape(value)
    if not _fits(shape, spec.shape):
        raise bad_request(
            f"Input {name!r} has the wrong shape",
            _in_words(spec.shape),
            f"{list(shape)} from {shown(value)}",
            "Write a list for each axis, as GET .../metadata says; a plain text is an "
            "instance, a list of texts an input",
        )
    leaves = _leaves(name, value, shape)
    return _ARRAYS[spec.dtype.kind](name, leaves, spec.dtype).reshape(shape)


def to_json(name, array):
    """An array as nested lists; what no number is (NaN, infinity) as null."""
    if array.dtype.kind == "O":
        found = np.empty(array.size, object)
        found[:] = [_written(name, each) for each in array.ravel()]
        return found.reshape(array.shape).tolist()
    if array.dtype.kind == "f":
        found = _as_short(array.ravel())
        found = np.where(np.isfinite(found), found.astype(object), None)
        return found.reshape(array.shape).tolist()
    return array.tolist()


def _as_short(numbers):
    """By way of strings: 0.1 of float32 is 0.1, not 0.10000000149011612."""
    found = np.empty(numbers.size)
    for start in range(0, numbers.size, CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = numbers[part].astype("U32").astype(float)
    return found


def _written(name, text):
    if name.endswith("_bytes"):
        return {"b64": base64.b64encode(text).decode("ascii")}
    return text.decode("utf-8", "replace")


def _shape(value):
    """That of the first elements; `_leaves` finds whether the others have it, too."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _fits(shape, expected):
    if expected is None:
        return len(shape) <= MOST_AXES
    return len(shape) == len(expected) and all(
        e in (None, s) for s, e in zip(shape, expected, strict=True)
    )


def _in_words(shape):
    if shape is None:
        return f"{MOST_AXES} axes or less"
    return f"[{', '.join('any' if size is None else str(size) for size in shape)}]"


def _leaves(name, value, shape):
    """What is in the innermost lists; all lists of an axis have its size."""
    leaves = [value]
    for size in shape:
        for each in leaves:
            if not isinstance(each, list) or len(each) != size:
                raise bad_request(
                    f"Input {name!r} is no tensor",
                    f"lists of {size} elements beside each other",
                    shown(each),
                    "Make all of them equally long",
                )
        leaves = [element for each in leaves for element in each]
    return leaves


def _strings(name, leaves, dtype):
    found = np.empty(len(leaves), object)
    found[:] = [_bytes(name, leaf) for leaf in leaves]
    return found


def _bytes(name, leaf):
    is_binary = isinstance(leaf, dict) and list(leaf) == ["b64"]
    text = leaf["b64"] if is_binary else leaf
    if not isinstance(text, str):
        raise _wrong_type(name, 'a string or {"b64": ...}', leaf)
    try:
        return base64.b64decode(text, validate=True) if is_binary else text.encode()
    except UnicodeEncodeError:
        raise bad_request(
            f"Input {name!r} has half a character",
            "text, surrogates in pairs",
            shown(leaf),
            "Escape characters above U+FFFF as two",
        ) from None
    except ValueError:
        raise bad_request(
            f"Input {name!r} has something that is not base64",
            '{"b64": "..."} with A-Z, a-z, 0-9, +, / and = at the end',
            shown(leaf),
            "Encode the bytes again, or send text as a plain string",
        ) from None


def _integers(name, leaves, dtype):
    limits = np.iinfo(dtype)
    for leaf in leaves:
        if type(leaf) is not int or not limits.min <= leaf <= limits.max:
            raise _wrong_type(name, f"an integer that {dtype.name} can hold", leaf)
    return np.array(leaves, dtype)


def _floats(name, leaves, dtype):
    largest = float(np.finfo(dtype).max)
    for leaf in leaves:
        is_number = type(leaf) is int or type(leaf) is float and math.isfinite(leaf)
        if not is_number or abs(leaf) > largest:
            raise _wrong_type(name, f"a number that {dtype.name} can hold", leaf)
    return np.array(leaves, dtype)


def _booleans(name, leaves, dtype):
    for leaf in leaves:
        if type(leaf) is not bool:
            raise _wrong_type(name, "true or false", leaf)
    return np.array(leaves, dtype)


def _wrong_type(name, expected, leaf):
    return bad_request(
        f"Input {name!r} has a value of the wrong type",
        expected,
        shown(leaf),
        "See GET .../metadata for the types",
    )


_ARRAYS = {"O": _strings, "i": _integers, "u": _integers, "f": _floats, "b": _booleans}
