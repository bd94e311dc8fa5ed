"""The content of an export's `manifest.json`."""

import hashlib
import json
import math

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.manifest import versions

_MODEL_ENTRIES = ("function", "arguments")  # that the user may pass
# Entries that the export writes itself.
_RESERVED = (
    *("format", "created_with", "source_text", "target_text", "search", "max_length"),
    *("max_source", "shortlist", "weights", "signatures", "files"),
)


def manifest_content(pipeline, weights, functions, entries=None):
    """Return the content of `manifest.json` without the checksums.

    Args:
        pipeline: `Pipeline`.
        weights: "float32", "bfloat16" or "int8".
        functions: concrete functions by the names of their signatures.
        entries: entries of the user, after `check_entries`: `model` with `function` and
            `arguments`, `metrics`, and any others.
    """
    entries = {} if entries is None else entries
    model = {"function": None, "arguments": None, **entries.get("model", {})}
    model["class"] = type(pipeline.model).__name__
    model["parameters"] = _parameters(pipeline.model)
    return {
        "created_with": versions(),
        "model": model,
        "source_text": _text(pipeline.source_text),
        "target_text": _text(pipeline.target_text),
        "search": _config(pipeline.search),
        "max_length": _config(pipeline.max_length),
        "max_source": pipeline.max_source,
        **_shortlist(pipeline.shortlist),
        "weights": weights,
        "metrics": entries.get("metrics"),
        "signatures": {name: _signature(f) for name, f in functions.items()},
        **{k: v for k, v in entries.items() if k not in ("model", "metrics")},
    }


def check_entries(entries):
    """Check the user's entries for a manifest."""
    if entries is None:
        return
    if not isinstance(entries, dict) or not isinstance(entries.get("model", {}), dict):
        raise four_part_error(
            "export got an unusable manifest",
            "a dict, whose 'model' is a dict, too",
            f"manifest={abbreviated(entries)}",
            'Pass e.g. manifest={"model": {"function": "zoo.bahdanau2015"}, '
            '"licence": "CC-BY-4.0"}',
        )
    reserved = [name for name in entries if name in _RESERVED]
    model = entries.get("model", {})
    reserved += [f"model/{name}" for name in model if name not in _MODEL_ENTRIES]
    if reserved:
        raise four_part_error(
            "export got a manifest with reserved names",
            f"new names, 'metrics', and a 'model' with {' and '.join(_MODEL_ENTRIES)}",
            f"{', '.join(reserved)}",
            "Leave them out: export writes them itself",
        )
    try:
        json.dumps(entries, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise four_part_error(
            "export got a manifest that JSON cannot hold",
            "strings, finite numbers, lists and dicts of them",
            error,
            "Convert other values",
        ) from error


def _parameters(model):
    parts = getattr(model, "models", [model])  # all members of an ensemble
    weights = [getattr(part, "weights", ()) for part in parts]
    return sum(math.prod(weight.shape) for part in weights for weight in part)


def _shortlist(shortlist):
    """Return the entry of a shortlist; with one, answers depend on their batch."""
    if shortlist is None:
        return {}
    sizes = {"common": shortlist.common, "size": shortlist.size}
    return {"shortlist": {"per_token": shortlist.table.shape[1], **sizes}}


def _text(text):
    return {
        **_config(text),
        "vocabulary_size": text.vocabulary_size,
        "sha256": hashlib.sha256(text._to_bytes()).hexdigest(),
    }


def _config(value):
    """Return the class and options of an object, or a number as it is."""
    if not hasattr(value, "get_config"):
        return value
    return {"class": type(value).__name__, **value.get_config()}


def _signature(function):
    """Return `{"inputs": {name: [dtype, shape]}, "outputs": ...}`."""
    inputs = {spec.name: spec for spec in function.structured_input_signature[0]}
    sides = {"inputs": inputs, "outputs": function.structured_outputs}
    return {
        side: {name: [x.dtype.name, x.shape.as_list()] for name, x in tensors.items()}
        for side, tensors in sides.items()
    }
