"""The positions that a decoder has seen: see `types.Past`.

A past has one of two forms. One begins without nodes and grows with every step, which
copies it. The other has room for nodes to come. XLA needs room for all of them from the
start. A search without XLA writes new nodes in place, without a copy, and makes more
room when there is none left, see `decoding.model_state`.
"""

import math

from keras import ops, tree

from keras_seqattn.ops.fast.past import write
from keras_seqattn.types import Past


def empty_past(nodes, batch, room=None):
    """Return a `Past` without nodes.

    Args:
        nodes: nest of tensors `[batch, ..., 1, depth]`: their shapes and dtypes count.
        batch: number of sentences.
        room: Python integer, the number of nodes to make room for; None: it grows.
    """

    def empty(x):
        return ops.zeros((batch, *x.shape[1:-2], room or 0, x.shape[-1]), x.dtype)

    return Past(
        tree.map_structure(empty, nodes),
        ops.zeros((batch, room or 0), "bool"),
        () if room is None else ops.zeros((batch,), "int32"),
    )


def next_positions(past):
    """Return the position of the next node of each hypothesis, from 0 on.

    All hypotheses of a sentence have equally many positions: one is counted.
    """
    is_own = past.is_own
    first = is_own[:, :1] if len(is_own.shape) == 3 else is_own
    count = ops.sum(ops.cast(first, "int32"), axis=-1)
    return ops.broadcast_to(count, ops.shape(is_own)[:-1])


def next_place(past):
    """Return the place of the next node of the first hypothesis, a scalar.

    Those of the others follow it. None: the past grows.
    """
    if isinstance(past.used, tuple):
        return None
    return ops.max(past.used, initial=0)  # the same for all sentences, if there are any


def add_own(past, place):
    """Return the past after each hypothesis has got one more node.

    Args:
        past: `Past`.
        place: of `next_place`.
    """
    is_own = past.is_own
    shape = ops.shape(is_own)
    beam = shape[1] if len(shape) == 3 else 1
    if place is None:
        new = ops.eye(beam, dtype="bool") if len(shape) == 3 else ops.ones((1,), "bool")
        new = ops.broadcast_to(new, (*shape[:-1], beam))
        return past._replace(is_own=ops.concatenate([is_own, new], axis=-1))
    places = place + ops.arange(beam, dtype="int32")
    is_new = ops.arange(shape[-1], dtype="int32") == places[:, None]
    is_own = ops.logical_or(is_own, ops.reshape(is_new, (-1, *shape[1:])))
    return past._replace(is_own=is_own, used=past.used + beam)


def add_nodes(nodes, new, place):
    """Return the nodes with one more for each hypothesis.

    Args:
        nodes: `[batch, ..., nodes, depth]`.
        new: `[batch, ..., beam, depth]`.
        place: of `next_place`: they are written there; None: they come last.
    """
    if place is None:
        return ops.concatenate([nodes, new], axis=-2)
    if nodes.shape[-2] is None:  # only where a search makes more room, without XLA
        return write(nodes, new, place)
    *rows, room, depth = ops.shape(nodes)
    rows, beam = math.prod(rows), ops.shape(new)[-2]
    places = place + ops.arange(beam, dtype="int32")
    shape = (rows, beam)
    index = ops.stack(
        [
            ops.broadcast_to(ops.arange(rows, dtype="int32")[:, None], shape),
            ops.broadcast_to(places, shape),
        ],
        axis=-1,
    )
    flat = ops.reshape(nodes, (rows, room, depth))
    new = ops.reshape(new, (rows * beam, depth))
    filled = ops.scatter_update(flat, ops.reshape(index, (rows * beam, 2)), new)
    return ops.reshape(filled, ops.shape(nodes))
