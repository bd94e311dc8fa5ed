"""Calls as of Keras's attention layers: a list of tensors, and a key of its own."""

import inspect

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.parts.checks import check_rank
from keras_seqattn.types import Encoded

TENSORS = ("query", "value", "key")
MASKS = ("query_mask", "value_mask", "key_mask")


def spread_list(owner, args, kwargs):
    """The arguments of a call, with a name for each tensor of a list.

    Args:
        owner: name for messages.
        args: positional arguments; the first may be `[query, value]`, or
            `[query, value, key]`.
        kwargs: keyword arguments; beside a list, `mask` is a list of masks.

    Returns:
        `args` and `kwargs` without a list.
    """
    if not (args and _is_list_of_tensors(args[0])):
        _check_third(owner, args)
        return args, kwargs
    tensors, *rest = args
    if len(tensors) not in (2, 3) or rest:
        beside = f" and {len(rest)} more arguments without a name" if rest else ""
        raise four_part_error(
            f"{owner} got an unusable list",
            "[query, value] or [query, value, key] as the only argument without a name",
            f"a list of {len(tensors)} tensors{beside}",
            "Call it as layer([query, value], mask=[query_mask, value_mask])",
        )
    kwargs = dict(kwargs)
    masks = _masks(owner, kwargs.pop("mask", None))
    named = {**dict(zip(TENSORS, tensors, strict=False)), **masks}
    twice = [name for name in named if kwargs.get(name) is not None]
    if twice or masks and any(kwargs.get(name) is not None for name in MASKS):
        twice = twice or [name for name in MASKS if kwargs.get(name) is not None]
        raise four_part_error(
            f"{owner} got {' and '.join(twice)} in two places",
            "each tensor and each mask in a list or by its name",
            f"{'mask' if masks else 'a list'} and {', '.join(twice)}",
            "Keep one of the two",
        )
    return (), {**kwargs, **named}


def _is_list_of_tensors(x):
    if type(x) not in (list, tuple) or not x:  # an Encoded is a tuple, too
        return False
    return all(hasattr(each, "shape") or isinstance(each, Encoded) for each in x)


def _masks(owner, mask):
    """The masks of a list by their names; {} without a list."""
    if mask is None:
        return {}
    if not isinstance(mask, (list, tuple)) or len(mask) not in (2, 3):
        raise four_part_error(
            f"{owner} got an unusable mask beside a list of tensors",
            "a list [query_mask, value_mask], where None stands for no mask",
            abbreviated(mask),
            "Pass e.g. mask=[None, ids != 0]",
        )
    return dict(zip(MASKS, mask, strict=False))


def _check_third(owner, args):
    """Check that the third argument is no key, as it is of Keras's layers."""
    if len(args) > 2 and len(getattr(args[2], "shape", ())) == 3:
        raise four_part_error(
            f"{owner} got a key as its third argument",
            "query and value before the arguments with a name",
            f"a tensor of shape {tuple(args[2].shape)} as query_mask",
            "Pass key=key, or a list: layer([query, value, key])",
        )


def check_key(mechanism, value_shape, key_shape):
    """Check that a mechanism can compare its queries with these keys.

    Args:
        mechanism: an `Attention`.
        value_shape: `[batch, source, memory_depth]`.
        key_shape: `[batch, source, key_depth]`; None: the values are the keys.
    """
    if key_shape is None:
        return
    owner = type(mechanism).__name__
    if not mechanism.takes_key:
        raise four_part_error(
            f"{owner} got a key that its scores would not read",
            "query and value only",
            f"a key of shape {tuple(key_shape)}",
            "Drop key, or use a mechanism that projects keys, e.g. BahdanauAttention",
        )
    check_rank(owner, "key", key_shape, "[batch, source, key_depth]")
    pairs = zip(value_shape[:2], key_shape[:2], strict=True)
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise four_part_error(
            f"{owner} got a key that does not fit its value",
            f"a key for each position of the value of shape {tuple(value_shape)}",
            f"a key of shape {tuple(key_shape)}",
            "Give both the same batch and the same source length",
        )
    builds_key = "key_shape" in inspect.signature(mechanism.build).parameters
    if not builds_key and value_shape[-1] != key_shape[-1]:
        raise four_part_error(
            f"{owner} got a key of another depth than its value",
            f"key_depth = {value_shape[-1]}, because its build takes no key_shape",
            f"key_depth = {key_shape[-1]}",
            "Write build(self, query_shape, value_shape, key_shape=None), and build "
            "what project_keys reads with `key_shape or value_shape`",
        )
