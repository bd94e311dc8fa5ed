"""Checks of the arguments of layers."""

import warnings

import keras
from keras import tree

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.ops.dispatch import IMPLEMENTATIONS
from keras_seqattn.types import Encoded, Memory


def check_residual_from(owner, residual_from):
    """Check that residuals start above the first layer, whose input differs in size."""
    if residual_from is None:
        return
    check_count(owner, "residual_from", residual_from)
    if residual_from == 1:
        raise four_part_error(
            f"{owner} got an unusable residual_from",
            "2 or more",
            "residual_from=1: the input of the first layer is not as wide as its "
            "output",
            "Use None for no residuals",
        )


def check_implementation(owner, implementation):
    """Check that `ops.dispatch` knows this implementation."""
    check_choice(owner, "implementation", implementation, IMPLEMENTATIONS)


def check_rank(owner, name, shape, *shapes_in_words):
    """Check a rank against shapes in words, e.g. "[batch, source, depth]"."""
    if len(shape) not in [words.count(",") + 1 for words in shapes_in_words]:
        raise four_part_error(
            f"{owner} got {_a(name)} of the wrong rank",
            f"{' or '.join(shapes_in_words)}",
            f"shape {tuple(shape)}",
            "Add or drop an axis, or check the order of the arguments",
        )


def check_source(owner, shape):
    """Check that there is at least one source position (padding counts)."""
    check_rank(owner, "value", shape, "[batch, source, memory_depth]")
    if shape[1] == 0:
        raise four_part_error(
            f"{owner} got a value without source positions",
            "[batch, source, memory_depth] with source >= 1",
            f"shape {tuple(shape)}",
            "For an empty sentence pass one padded position and a mask that is "
            "False there: the alignment is then zero",
        )


def check_target(owner, name, shape):
    """Check that there is at least one target position (padding counts)."""
    if len(shape) == 3 and shape[1] == 0:
        raise four_part_error(
            f"{owner} got {name} without target positions",
            "[batch, target, depth] with target >= 1",
            f"shape {tuple(shape)}",
            "Pass at least one position, masked if it is not real",
        )


def check_batch(owner, name, shape, value_shape):
    """Check that query or inputs have as many sentences as the value."""
    batches = shape[0], value_shape[0]
    if None not in batches and batches[0] != batches[1]:
        raise four_part_error(
            f"{owner} got a value of another batch than its {name}",
            f"batch = {batches[0]}, as in {name} of shape {tuple(shape)}",
            f"a value of shape {tuple(value_shape)}",
            f"Pass one source for each row of {name}",
        )


def check_mask(owner, mask, name, shape, axis, argument=None):
    """Check that a mask is bool and fits the tensor of this name and shape."""
    if mask is None:
        return
    example = f"{argument or f'{name}_mask'}=ids != 0"
    if not hasattr(mask, "shape"):
        raise four_part_error(
            f"{owner} got a mask for {_a(name)} that is not a tensor",
            f"bool [batch, {axis}], True = real",
            f"a {type(mask).__name__}",
            f"Write e.g. `{example}`, or make a tensor with keras.ops.array(mask)",
        )
    expected, received = tuple(shape[:2]), tuple(mask.shape)
    if len(received) != 2 or any(
        None not in (e, r) and e != r for e, r in zip(expected, received, strict=True)
    ):
        remedy = f"Write `{example}` with the ids of the {axis}"
        if len(received) == 1:
            remedy = f"For lengths write tf.sequence_mask(lengths, {expected[1]})"
        raise four_part_error(
            f"{owner} got a mask that does not fit {_a(name)} of shape {tuple(shape)}",
            f"[batch, {axis}] = {expected}",
            f"shape {received}",
            remedy,
        )
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        raise four_part_error(
            f"{owner} got a mask for {_a(name)} that is not boolean",
            "bool, True = real",
            f"dtype {dtype}",
            f"Write e.g. `{example}`",
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
    """Check the structure and the sizes of a state, see `is_state`."""
    if not is_state(state, sizes):
        received = tree.map_structure(
            lambda x: tuple(getattr(x, "shape", ())) or x, state
        )
        expected = tree.map_structure(lambda size: ("batch", size), sizes)
        raise four_part_error(
            f"{owner} got an initial_state of another structure than its cell's",
            f"shapes {expected}",
            received,
            "An encoder's state is a list with one entry per layer: pass it "
            "through a bridge, e.g. CopyBridge()(encoded) for equal sizes, "
            "DenseBridge(decoder.cell.state_size)(encoded) for others",
        )


def check_state_batch(owner, state, memory):
    """Check that a state has as many sentences as the memory."""
    batch = memory.values.shape[0]
    for each in {x.shape[0] for x in tree.flatten(state)} - {None}:
        if batch not in (None, each):
            raise four_part_error(
                f"{owner} got an initial_state of another batch than its source",
                f"batch = {batch}",
                f"batch = {each}",
                "Pass one state for each source",
            )


def check_memory(owner, memory, state=()):
    """Check that a memory is not a tensor, and that it did not change places."""
    if hasattr(memory, "shape") or isinstance(state, Memory):
        raise four_part_error(
            f"{owner} got no memory where it needs one",
            "the result of prepare(value, mask)",
            f"memory of type {type(memory).__name__}, state of type "
            f"{type(state).__name__}",
            "Write memory = layer.prepare(value, mask) once for a source, and pass "
            "memory=memory, state=state",
        )


def check_past(owner, past, query, words):
    """Check that the state of a mechanism has the axes of its query.

    Args:
        owner: name for the message.
        past: the state.
        query: `[batch, ..., query_depth]`.
        words: the shape of the state, e.g. "[batch, ..., source]".
    """
    received = tuple(getattr(past, "shape", ()))
    rank = len(query.shape) - 1 + ("source" in words)
    if len(received) != rank:
        raise four_part_error(
            f"{owner} got a state that does not fit its query",
            f"{words} for a query of shape {tuple(query.shape)}",
            f"{abbreviated(received or past)}",
            "Start with initial_state(memory), pass on the state of each result, "
            "and give it the axes that the query has (with a beam: [batch, beam, "
            "...])",
        )


def check_heads(owner, units, heads):
    """Check that the heads of an attention can share its units."""
    check_count(owner, "units", units)
    check_count(owner, "heads", heads)
    if units % heads:
        raise four_part_error(
            f"{owner} cannot share its units among its heads",
            "units divisible by heads",
            f"units={units} and heads={heads}",
            f"Use e.g. units={(units // heads + 1) * heads}",
        )


def check_attention(owner, attention):
    """Check that an attention is a mechanism, and not a class or a name."""
    verbs = ("prepare", "attend")
    if isinstance(attention, type) or not all(hasattr(attention, v) for v in verbs):
        raise four_part_error(
            f"{owner} got an unusable attention",
            "an attention layer with the verbs prepare and attend",
            abbreviated(attention),
            "Pass an object, e.g. attention=BahdanauAttention(256)",
        )


def check_complete(owner, arguments, parameters):
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


def warn_without_mask(owner, value):
    """Warn if a symbolic value comes from ids, and their padding is not known."""
    value = value.values if isinstance(value, Encoded) else value
    embeddings = list(_embeddings(value))
    if not embeddings or any(x is None or x.mask_zero for x in embeddings):
        return
    message = four_parts(
        f"{owner} got a value without a mask",
        "the mask of its padding",
        f"values of the Embedding {embeddings[0].name!r} with mask_zero=False",
        "Pass mask_zero=True to the Embedding, so that the layers between skip the "
        "padding, too; ignore this if there is no padding",
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
