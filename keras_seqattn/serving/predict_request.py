"""Bodies of requests to `:predict`."""

import json
from typing import Any, NamedTuple

from keras_seqattn.serving.http_errors import http_error, short_json
from keras_seqattn.serving.json_tensors import to_array
from keras_seqattn.serving.signature import cell_count

DEFAULT = "serving_default"
EXAMPLE = 'Send for example {"instances": ["a text"]}'


class SignatureCall(NamedTuple):
    """A signature and its inputs."""

    signature: Any
    inputs: dict  # arrays by name
    rows: int  # rows of each input if the signature is batched; else 1
    is_by_row: bool  # whether "instances" were sent, so "predictions" are returned
    lengths: tuple  # bounds of the longest source and target, see `LengthBounds`


def parse_request(body, signatures, limits):
    """Return the `SignatureCall` that a body describes.

    Args:
        body: bytes.
        signatures: dict of `Signature`s.
        limits: `Limits`.
    """
    content = _parse_object(body)
    signature = _signature(content, signatures)
    formats = [name for name in ("instances", "inputs") if name in content]
    if len(formats) != 1:
        raise http_error(
            400,
            'Send exactly one of "instances" and "inputs"',
            'an object with "instances", a list, or with "inputs"',
            " and ".join(formats) or f"neither in {short_json(content)}",
            EXAMPLE,
        )
    is_by_row = formats == ["instances"]
    values = (_by_row if is_by_row else _by_column)(content[formats[0]], signature)
    inputs = {k: to_array(k, v, signature.inputs[k]) for k, v in values.items()}
    rows = len(content["instances"]) if is_by_row else _row_count(inputs, signature)
    _check_sizes(inputs, rows, limits)
    lengths = signature.lengths(inputs)
    call = SignatureCall(signature, inputs, rows, is_by_row, lengths)
    _check_cells(call, limits)
    return call


def _parse_object(body):
    def refuse(constant):
        raise ValueError(f"{constant} is not valid JSON")

    try:
        content = json.loads(body.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise http_error(
            400,
            "The body is not valid JSON",
            "an object in UTF-8",
            f"{len(body)} bytes with the error {str(error)!r}",
            EXAMPLE,
        ) from None
    if not isinstance(content, dict):
        raise http_error(
            400,
            "The body is not an object",
            'an object with "instances" or "inputs"',
            short_json(content),
            EXAMPLE,
        )
    return content


def _signature(content, signatures):
    name = content.get("signature_name", "")
    signature = signatures.get(name or DEFAULT) if isinstance(name, str) else None
    if signature is None:
        raise http_error(
            400,
            "The model does not have this signature",
            f"one of {', '.join(sorted(signatures))}",
            short_json(name or DEFAULT),
            'Check "signature_name"',
        )
    return signature


def _by_row(instances, signature):
    """Return by name a list with the values of all instances, in their order."""
    if not isinstance(instances, list) or not instances:
        raise http_error(
            400,
            '"instances" is not a list with values',
            "a list of one or more instances",
            short_json(instances),
            "Put a single text into a list",
        )
    names = list(signature.inputs)
    if len(names) == 1 and not _is_named(instances[0]):
        return {names[0]: instances}
    for instance in instances:
        _check_names(instance, names, "An instance")
    return {name: [instance[name] for instance in instances] for name in names}


def _by_column(inputs, signature):
    """Return the values by name."""
    names = list(signature.inputs)
    if len(names) == 1 and not _is_named(inputs):
        return {names[0]: inputs}
    _check_names(inputs, names, '"inputs"')
    return inputs


def _is_named(value):
    """Whether a value is an object of inputs by name; {"b64": ...} is a string."""
    return isinstance(value, dict) and list(value) != ["b64"]


def _check_names(value, names, place):
    if not isinstance(value, dict) or set(value) != set(names):
        received = sorted(value) if isinstance(value, dict) else value
        raise http_error(
            400,
            f"{place} must have exactly the names of the signature's inputs",
            f"an object with {', '.join(names)}",
            short_json(received),
            "See GET .../metadata for the signatures",
        )


def _row_count(inputs, signature):
    if not signature.is_batched:
        return 1
    rows = {name: len(array) for name, array in inputs.items()}
    if len(set(rows.values())) > 1:
        raise http_error(
            400,
            "The inputs have different numbers of rows",
            "one row for each instance in all of them",
            ", ".join(f"{count} in {name}" for name, count in rows.items()),
            "Send the same number of values for each input",
        )
    return next(iter(rows.values()), 1)


def _check_sizes(inputs, rows, limits):
    if rows > limits.batch:
        raise http_error(
            413,
            "The request has too many instances",
            f"at most {limits.batch}",
            str(rows),
            "Send several requests, or start the server with a larger --batch",
        )
    for name, array in inputs.items():
        if array.dtype.kind != "O":
            continue
        # A text has no more characters than bytes, so most texts need no decoding.
        long_texts = [text for text in array.ravel() if len(text) > limits.max_text]
        sizes = [len(text.decode("utf-8", "replace")) for text in long_texts]
        if max(sizes, default=0) > limits.max_text:
            raise http_error(
                413,
                f"Input {name!r} has a text that is too long",
                f"at most {limits.max_text} characters",
                str(max(sizes)),
                "Split it, or start the server with a larger --max-text",
            )


def _check_cells(call, limits):
    if cell_count(call) > limits.max_cells:
        source, target = call.lengths
        raise http_error(
            413,
            "The computation of this request is too large",
            "rows x longest source x longest target in tokens of at most "
            f"{limits.max_cells}",
            f"{call.rows} x {source} x {target}, if every byte is a token",
            "Send fewer texts in one request, send long texts alone, or start the "
            "server with a larger --max-cells",
        )
