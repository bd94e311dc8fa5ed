"""Conversion of JSON values to arrays and back, as in TensorFlow Serving."""

import base64
import math

import numpy as np

from keras_seqattn.serving.http_errors import http_error, short_json

MOST_AXES = 32  # NumPy allows at least these
CHUNK = 65_536  # numbers that are converted to strings at once, 128 bytes each


def to_array(name, value, spec):
    """Return the array that nested lists describe.

    Args:
        name: name of the input, for errors.
        value: as JSON has it.
        spec: `Spec`.
    """
    shape = _shape(value)
    if not _is_allowed(shape, spec.shape):
        raise http_error(
            400,
            f"Input {name!r} has the wrong shape",
            _shape_in_words(spec.shape),
            f"{list(shape)} from {short_json(value)}",
            'Nest lists as GET .../metadata says. In "instances" send texts; in '
            '"inputs" send lists of texts',
        )
    leaves = _leaves(name, value, shape)
    return _ARRAYS[spec.dtype.kind](name, leaves, spec.dtype).reshape(shape)


def to_json(name, array):
    """Return an array as nested lists; NaN and infinity become null."""
    if array.dtype.kind == "O":
        values = np.empty(array.size, object)
        values[:] = [_json_text(name, text) for text in array.ravel()]
        return values.reshape(array.shape).tolist()
    if array.dtype.kind == "f":
        values = _shortest_floats(array.ravel())
        values = np.where(np.isfinite(values), values.astype(object), None)
        return values.reshape(array.shape).tolist()
    return array.tolist()


def _shortest_floats(numbers):
    """Return float64 numbers with few digits: 0.1 instead of 0.10000000149011612.

    The conversion to strings finds the shortest decimal number of a float32.
    """
    values = np.empty(numbers.size)
    for start in range(0, numbers.size, CHUNK):
        part = slice(start, start + CHUNK)
        values[part] = numbers[part].astype("U32").astype(float)
    return values


def _json_text(name, text):
    if name.endswith("_bytes"):
        return {"b64": base64.b64encode(text).decode("ascii")}
    return text.decode("utf-8", "replace")


def _shape(value):
    """Return the shape of the first elements; `_leaves` checks the others."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _is_allowed(shape, expected):
    if expected is None:
        return len(shape) <= MOST_AXES
    return len(shape) == len(expected) and all(
        e in (None, s) for s, e in zip(shape, expected, strict=True)
    )


def _shape_in_words(shape):
    if shape is None:
        return f"at most {MOST_AXES} axes"
    return f"[{', '.join('any' if size is None else str(size) for size in shape)}]"


def _leaves(name, value, shape):
    """Return the elements of the innermost lists, and check all sizes."""
    leaves = [value]
    for size in shape:
        for element in leaves:
            if not isinstance(element, list) or len(element) != size:
                raise http_error(
                    400,
                    f"Input {name!r} has lists of different lengths",
                    f"{size} elements in all lists of one axis",
                    short_json(element),
                    "Make all of them equally long",
                )
        leaves = [inner for element in leaves for inner in element]
    return leaves


def _strings(name, leaves, dtype):
    strings = np.empty(len(leaves), object)
    strings[:] = [_bytes(name, leaf) for leaf in leaves]
    return strings


def _bytes(name, leaf):
    is_binary = isinstance(leaf, dict) and list(leaf) == ["b64"]
    text = leaf["b64"] if is_binary else leaf
    if not isinstance(text, str):
        raise _wrong_type(name, 'a string or {"b64": ...}', leaf)
    try:
        return base64.b64decode(text, validate=True) if is_binary else text.encode()
    except UnicodeEncodeError:
        raise http_error(
            400,
            f"Input {name!r} has an unpaired surrogate",
            "text whose surrogates come in pairs",
            short_json(leaf),
            "Escape a character above U+FFFF as two surrogates",
        ) from None
    except ValueError:
        raise http_error(
            400,
            f"Input {name!r} has a value that is not base64",
            '{"b64": "..."} with A-Z, a-z, 0-9, +, / and = at the end',
            short_json(leaf),
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
    return http_error(
        400,
        f"Input {name!r} has a value of the wrong type",
        expected,
        short_json(leaf),
        "See GET .../metadata for the types",
    )


_ARRAYS = {"O": _strings, "i": _integers, "u": _integers, "f": _floats, "b": _booleans}
