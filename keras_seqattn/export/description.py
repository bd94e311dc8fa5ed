"""What the manifest of an export says about the translator in it."""

import hashlib
import json
import math

from keras_seqattn.errors import four_part_error
from keras_seqattn.manifest import versions

# What the caller may add to: the rest of these is found out.
_OPEN = {"model": ("function", "arguments")}
_FIXED = (
    *("format", "created_with", "source_text", "target_text", "search", "max_length"),
    *("max_source", "shortlist", "weights", "signatures", "files"),
)


def describe(pipeline, weights, functions, own=None):
    """The content of `manifest.json`, but for the checksums.

    Args:
        pipeline: `Pipeline`.
        weights: how they are stored, e.g. "float32".
        functions: concrete functions by the names of their signatures.
        own: what the caller knows, checked: `model` with `function` and `arguments`,
            `metrics`, and anything else.
    """
    own = {} if own is None else own
    model = {"function": None, "arguments": None, **own.get("model", {})}
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
        "metrics": own.get("metrics"),
        "signatures": {name: _signature(f) for name, f in functions.items()},
        **{k: v for k, v in own.items() if k not in ("model", "metrics")},
    }


def check_own(own):
    """Raises where the caller's part of a manifest cannot be one."""
    if own is None:
        return
    if not isinstance(own, dict) or not isinstance(own.get("model", {}), dict):
        raise four_part_error(
            "export got an unusable manifest",
            "a dict, and a dict as its 'model'",
            f"manifest={own!r}",
            'Pass e.g. manifest={"model": {"function": "zoo.bahdanau2015"}, '
            '"licence": "CC-BY-4.0"}',
        )
    taken = [name for name in own if name in _FIXED]
    inner = own.get("model", {})
    taken += [f"model/{name}" for name in inner if name not in _OPEN["model"]]
    if taken:
        raise four_part_error(
            "export got a manifest with what is found out",
            "names of your own, 'metrics', and a 'model' with "
            f"{' and '.join(_OPEN['model'])}",
            f"{', '.join(taken)}",
            "Leave them out",
        )
    try:
        json.dumps(own, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise four_part_error(
            "export got a manifest that JSON cannot hold",
            "strings, finite numbers, lists and dicts of them",
            error,
            "Convert the rest",
        ) from error


def _parameters(model):
    parts = getattr(model, "models", [model])  # of an ensemble, each one
    weights = [getattr(part, "weights", ()) for part in parts]
    return sum(math.prod(weight.shape) for part in weights for weight in part)


def _shortlist(shortlist):
    """Nothing if there is none; else translations depend on their batch."""
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
    """An object by its class and options; a number is itself."""
    if not hasattr(value, "get_config"):
        return value
    return {"class": type(value).__name__, **value.get_config()}


def _signature(function):
    """`{"inputs": {name: [dtype, shape]}, "outputs": ...}`."""
    inputs = {spec.name: spec for spec in function.structured_input_signature[0]}
    sides = {"inputs": inputs, "outputs": function.structured_outputs}
    return {
        side: {name: [x.dtype.name, x.shape.as_list()] for name, x in tensors.items()}
        for side, tensors in sides.items()
    }
