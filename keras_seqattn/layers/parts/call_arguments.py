"""Arguments of calls as users have them: `Encoded`, ragged, or without a mask."""

import inspect
import warnings

import keras
from keras import ops

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error, four_parts
from keras_seqattn.layers.parts import checks
from keras_seqattn.types import Encoded

AXES = {"query": "target", "inputs": "target", "value": "source"}


def plain_call(layer, args, kwargs):
    """The arguments of a call, with a tensor and a mask for each padded argument.

    Args:
        layer: the layer that is called.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Returns:
        `args` and `kwargs` for `keras.layers.Layer.__call__`.
    """
    owner, signature = type(layer).__name__, inspect.signature(layer.call).parameters
    parameters = {
        k: x for k, x in signature.items() if x.kind == x.POSITIONAL_OR_KEYWORD
    }
    names = list(parameters)[: len(args)]
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    for name in arguments if len(parameters) == len(signature) else ():
        check_choice(owner, "argument", name, parameters)
    if arguments.get("value_mask") is None:
        _warn_without_mask(owner, arguments.get("value"))
    for name in AXES:
        make_plain(owner, arguments, name, f"{name}_mask")
    _check_complete(owner, arguments, parameters)
    args = [arguments.pop(name) for name in names] + list(args[len(names) :])
    return args, arguments


def _check_complete(owner, arguments, parameters):
    """Check that no argument without a default is missing."""
    needed = [name for name, x in parameters.items() if x.default is x.empty]
    missing = [name for name in needed if arguments.get(name) is None]
    if missing:
        given = [name for name in arguments if name not in missing]
        raise four_part_error(
            f"{owner} got no {' and no '.join(missing)}",
            " and ".join(needed),
            ", ".join(given) or "nothing",
            f"Call it as layer({', '.join(needed)})",
        )


def make_plain(owner, arguments, name, mask_name):
    """Replace an `Encoded` or a ragged tensor by its values and its mask.

    A mask beside it is combined with its own: a position is real if both say so.

    Args:
        owner: name for messages.
        arguments: dict, changed in place.
        name: of the tensor.
        mask_name: of its mask.
    """
    given, beside = arguments.get(name), arguments.get(mask_name)
    if isinstance(given, Encoded):
        values, mask = given.values, given.mask
    elif hasattr(given, "row_lengths"):
        values, mask = _padded(owner, name, given)
    elif isinstance(given, (list, tuple)):
        raise four_part_error(
            f"{owner} got a {type(given).__name__} as its {name}",
            "a tensor",
            f"a {type(given).__name__} of length {len(given)}",
            "Pass each tensor as an argument of its own, without brackets; make a "
            "tensor of nested lists with keras.ops.array(...)",
        )
    else:
        return
    if beside is not None and mask is not None:
        checks.check_mask(owner, beside, name, values.shape, AXES[name])
        mask = ops.logical_and(mask, beside)
    arguments[name] = values
    arguments[mask_name] = beside if mask is None else mask


def _padded(owner, name, ragged):
    """Values and mask of a ragged tensor `[batch, (time), depth]`."""
    if ragged.ragged_rank != 1 or len(ragged.shape) != 3:
        raise four_part_error(
            f"{owner} got a ragged {name} that cannot be padded",
            f"[batch, {AXES[name]}, depth], where only {AXES[name]} is ragged",
            f"shape {tuple(ragged.shape)} with ragged_rank={ragged.ragged_rank}",
            "Make it with tf.ragged.constant(rows, ragged_rank=1)",
        )
    values, lengths = ragged.to_tensor(), ragged.row_lengths()
    positions = ops.arange(ops.shape(values)[1], dtype=lengths.dtype)
    return values, positions < lengths[:, None]


def _warn_without_mask(owner, value):
    """Warn if a symbolic value comes from ids, and their padding is not known."""
    value = value.values if isinstance(value, Encoded) else value
    embeddings = list(_embeddings(value))
    if not embeddings or any(x is None or x.mask_zero for x in embeddings):
        return
    message = four_parts(
        f"{owner} got a value without a mask",
        "the mask of its padding",
        f"values of the Embedding {embeddings[0].name!r} with mask_zero=False",
        "Pass mask_zero=True to the Embedding, or value_mask=ids != 0 here; ignore "
        "this if there is no padding",
    )
    warnings.warn(message, stacklevel=4)


def _embeddings(tensor):
    """The `Embedding`s that a symbolic tensor comes from; None: there is a mask.

    It follows tensors `[batch, time, depth]` only. A boolean tensor is a mask.
    """
    history = getattr(tensor, "_keras_history", None)
    if history is None or len(tensor.shape) != 3:
        return
    layer, node, _ = history
    if isinstance(layer, keras.layers.Embedding):
        yield layer
        return
    inputs = layer._inbound_nodes[node].input_tensors
    if isinstance(layer, keras.layers.Masking) or any(
        x.dtype == "bool" for x in inputs
    ):
        yield None
        return
    for each in inputs:
        yield from _embeddings(each)
