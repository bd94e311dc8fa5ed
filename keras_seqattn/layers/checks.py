"""Errors in four parts: what, expected, received, remedy."""

import keras
from keras import tree

from keras_seqattn.ops.dispatch import IMPLEMENTATIONS


def check_size(owner, name, size):
    """A number of units, layers, heads, ... is a positive integer."""
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
        raise ValueError(
            f"{owner} got an unusable {name}. Expected a positive integer, "
            f"received {name}={size!r}. Pass a Python int, 1 or more."
        )


def check_residual_from(owner, residual_from):
    """The first layer has no residual: its input has another size."""
    if residual_from is None:
        return
    check_size(owner, "residual_from", residual_from)
    if residual_from == 1:
        raise ValueError(
            f"{owner} got an unusable residual_from. Expected 2 or more, received "
            "residual_from=1: the input of the first layer is not as wide as its "
            "output. Use None for no residuals."
        )


def check_rate(owner, name, rate):
    """A dropout rate lies in [0, 1)."""
    if not 0 <= rate < 1:
        raise ValueError(
            f"{owner} got an unusable {name}. Expected a rate in [0, 1), "
            f"received {name}={rate!r}. Use 0 to switch it off."
        )


def check_choice(owner, name, choice, choices):
    """A name is one of those that exist."""
    if choice not in choices:
        raise ValueError(
            f"{owner} got an unknown {name}. Expected one of {sorted(choices)}, "
            f"received {name}={choice!r}. Check the spelling, or write a small class "
            "of your own (CONTRIBUTING.md, seven steps)."
        )


def check_implementation(owner, implementation):
    """One of those that `ops.dispatch` knows."""
    if implementation not in IMPLEMENTATIONS:
        raise ValueError(
            f"{owner} got an unknown implementation. Expected one of "
            f"{list(IMPLEMENTATIONS)}, received implementation={implementation!r}. "
            "Pass 'auto', which takes the fast one where it can."
        )


def check_rank(owner, name, shape, *shapes_in_words):
    """A tensor has one of the shapes given in words, e.g. "[batch, source, depth]"."""
    if len(shape) not in [words.count(",") + 1 for words in shapes_in_words]:
        raise ValueError(
            f"{owner} got {_a(name)} of the wrong rank. Expected "
            f"{' or '.join(shapes_in_words)}, received shape {tuple(shape)}. "
            "Add or drop an axis, or check the order of the arguments."
        )


def check_source(owner, shape):
    """There is at least one source position (padding counts)."""
    check_rank(owner, "value", shape, "[batch, source, memory_depth]")
    if shape[1] == 0:
        raise ValueError(
            f"{owner} got a value without source positions. Expected "
            "[batch, source, memory_depth] with source >= 1, received shape "
            f"{tuple(shape)}. For an empty sentence pass one padded position and a "
            "mask that is False there: the alignment is then zero."
        )


def check_target(owner, name, shape):
    """There is at least one target position (padding counts)."""
    if len(shape) == 3 and shape[1] == 0:
        raise ValueError(
            f"{owner} got {name} without target positions. Expected [batch, target, "
            f"depth] with target >= 1, received shape {tuple(shape)}. Pass at least "
            "one position, masked if it is not real."
        )


_MASK_REMEDIES = {
    "source": "If the mask belongs to the target, pass it to the decoder instead.",
    "target": "If the mask belongs to the source, pass it as value_mask instead.",
}


def check_mask(owner, mask, name, shape, axis):
    """A mask is bool and belongs to the tensor of this name and shape."""
    if mask is None:
        return
    expected, received = tuple(shape[:2]), tuple(mask.shape)
    if len(received) != 2 or any(
        None not in (e, r) and e != r for e, r in zip(expected, received, strict=True)
    ):
        raise ValueError(
            f"{owner} got a mask of shape {received} for {_a(name)} of shape "
            f"{tuple(shape)}. Expected [batch, {axis}] = {expected}. "
            f"{_MASK_REMEDIES[axis]}"
        )
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        raise ValueError(
            f"{owner} got a mask for {_a(name)} that is not boolean. Expected bool, "
            f"True = real, received dtype {dtype}. Write e.g. `mask=ids != 0`."
        )


def _a(name):
    if name.endswith("s"):
        return name  # inputs, outputs
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def is_state(state, sizes):
    """Whether a recurrent state has the structure and the sizes of the cell's."""
    if isinstance(sizes, (list, tuple)):
        return (
            isinstance(state, (list, tuple))
            and len(state) == len(sizes)
            and all(map(is_state, state, sizes))
        )
    shape = getattr(state, "shape", ())
    return len(shape) >= 2 and shape[-1] == sizes


def check_state(owner, state, sizes):
    """See `is_state`."""
    if not is_state(state, sizes):
        received = tree.map_structure(
            lambda x: tuple(getattr(x, "shape", ())) or x, state
        )
        expected = tree.map_structure(lambda size: ("batch", size), sizes)
        raise ValueError(
            f"{owner} got an initial_state of another structure than its cell's. "
            f"Expected shapes {expected}, received {received}. An encoder's state is a "
            "list with one entry per layer: pass it through a bridge, e.g. "
            "CopyBridge()(encoded) for equal sizes, "
            "DenseBridge(decoder.cell.state_size)(encoded) for others."
        )


def check_past(owner, past, query, words):
    """What a mechanism remembers has the axes of the query, `words` says which."""
    received = tuple(getattr(past, "shape", ()))
    rank = len(query.shape) - 1 + ("source" in words)
    if len(received) != rank:
        raise ValueError(
            f"{owner} got a state that does not fit its query. Expected {words} for "
            f"a query of shape {tuple(query.shape)}, received {received or past!r}. "
            "Start with initial_state(memory), pass on the state of each result, and "
            "give it the axes that the query has (with a beam: [batch, beam, ...])."
        )


def check_attention(owner, attention):
    """A decoder cell needs a mechanism, not its name."""
    verbs = ("prepare", "attend")
    if isinstance(attention, type) or not all(hasattr(attention, v) for v in verbs):
        raise ValueError(
            f"{owner} got an unusable attention. Expected an attention layer with the "
            f"verbs prepare and attend, received {attention!r}. Pass an object, e.g. "
            "attention=BahdanauAttention(256)."
        )
