"""Bodies of requests to `:predict`."""

import json
from typing import Any, NamedTuple

from keras_seqattn.serving.refused import bad_request, shown, too_much
from keras_seqattn.serving.sizes import cells
from keras_seqattn.serving.tensors import to_array

DEFAULT = "serving_default"


class Question(NamedTuple):
    """A call of a signature."""

    signature: Any
    inputs: dict  # arrays by name
    rows: int  # of each, in a signature with a row for each instance; else 1
    is_by_row: bool  # whether "instances" were sent, so "predictions" are returned
    lengths: tuple  # tokens of the longest source and target, at most; see `Bounds`


def read(body, signatures, limits):
    """The question in a body.

    Args:
        body: bytes.
        signatures: dict of `Signature`s.
        limits: `Limits`.
    """
    asked = _parsed(body)
    signature = _signature(asked, signatures)
    formats = [name for name in ("instances", "inputs") if name in asked]
    if len(formats) != 1:
        raise bad_request(
            "The request has no format, or two",
            'either "instances", a list, or "inputs"',
            " and ".join(formats) or f"neither in {shown(asked)}",
            'Write e.g. {"instances": ["a text"]}',
        )
    is_by_row = formats == ["instances"]
    values = (_by_row if is_by_row else _by_column)(asked[formats[0]], signature)
    inputs = {k: to_array(k, v, signature.inputs[k]) for k, v in values.items()}
    rows = len(asked["instances"]) if is_by_row else _rows(inputs, signature)
    _check_sizes(inputs, rows, limits)
    question = Question(signature, inputs, rows, is_by_row, signature.lengths(inputs))
    _check_cells(question, limits)
    return question


def _parsed(body):
    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    try:
        asked = json.loads(body.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise bad_request(
            "The body is no JSON",
            "an object in UTF-8",
            f"{len(body)} bytes with the error {str(error)!r}",
            'Write e.g. {"instances": ["a text"]}',
        ) from None
    if not isinstance(asked, dict):
        raise bad_request(
            "The body is no object",
            'an object with "instances" or "inputs"',
            shown(asked),
            'Write e.g. {"instances": ["a text"]}',
        )
    return asked


def _signature(asked, signatures):
    name = asked.get("signature_name", "")
    found = signatures.get(name or DEFAULT) if isinstance(name, str) else None
    if found is None:
        raise bad_request(
            "The request names a signature that is not there",
            f"one of {', '.join(sorted(signatures))}",
            shown(name or DEFAULT),
            'Check "signature_name"',
        )
    return found


def _by_row(instances, signature):
    """Values by name, a list for each; those of all instances in their order."""
    if not isinstance(instances, list) or not instances:
        raise bad_request(
            'The request has no list in "instances"',
            "a list with an instance or more",
            shown(instances),
            "Put a single text into a list",
        )
    names = list(signature.inputs)
    if len(names) == 1 and not _is_named(instances[0]):
        return {names[0]: instances}
    for instance in instances:
        _check_names(instance, names, "An instance")
    return {name: [instance[name] for instance in instances] for name in names}


def _by_column(inputs, signature):
    """Values by name."""
    names = list(signature.inputs)
    if len(names) == 1 and not _is_named(inputs):
        return {names[0]: inputs}
    _check_names(inputs, names, 'What is in "inputs"')
    return inputs


def _is_named(value):
    """Whether it is an object with inputs; {"b64": ...} is a string."""
    return isinstance(value, dict) and list(value) != ["b64"]


def _check_names(value, names, what):
    if not isinstance(value, dict) or set(value) != set(names):
        received = sorted(value) if isinstance(value, dict) else value
        raise bad_request(
            f"{what} has not the names of the inputs",
            f"an object with {', '.join(names)}",
            shown(received),
            "See GET .../metadata for the signatures",
        )


def _rows(inputs, signature):
    if not signature.is_batched:
        return 1
    rows = {name: len(array) for name, array in inputs.items()}
    if len(set(rows.values())) > 1:
        raise bad_request(
            "The inputs are not equally long",
            "one row for each instance in all of them",
            ", ".join(f"{count} in {name}" for name, count in rows.items()),
            "Send pairs as pairs",
        )
    return next(iter(rows.values()), 1)


def _check_sizes(inputs, rows, limits):
    if rows > limits.batch:
        raise too_much(
            "The request has too many instances",
            f"{limits.batch} or less",
            str(rows),
            "Send several requests, or start the server with a larger --batch",
        )
    for name, array in inputs.items():
        if array.dtype.kind != "O":
            continue
        # No more characters than bytes, so that most texts need not be decoded.
        long = [text for text in array.ravel() if len(text) > limits.max_text]
        sizes = [len(text.decode("utf-8", "replace")) for text in long]
        if max(sizes, default=0) > limits.max_text:
            raise too_much(
                f"Input {name!r} has too long a text",
                f"{limits.max_text} characters or less",
                str(max(sizes)),
                "Split it, or start the server with a larger --max-text",
            )


def _check_cells(question, limits):
    if cells(question) > limits.max_cells:
        source, target = question.lengths
        raise too_much(
            "The request asks for too large a computation",
            f"rows x longest source x longest target of {limits.max_cells} or less, in "
            "tokens",
            f"{question.rows} x {source} x {target}, if every byte is a token",
            "Send fewer or shorter texts at once and long texts apart, or start the "
            "server with a larger --max-cells",
        )
