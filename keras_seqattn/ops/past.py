"""The positions that a decoder has seen: see `types.Past`.

A past has one of two forms. One has room for all nodes from the start, so that no shape
changes, as XLA needs it. The other begins without nodes and grows with every step;
`follow` drops the nodes that belong to no hypothesis any more. That is less to read,
because the hypotheses of a beam soon have most of their past in common.
"""

import math

from keras import ops, tree

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
    """Return the position of the next node of each hypothesis, from 0 on."""
    return ops.sum(ops.cast(past.is_own, "int32"), axis=-1)


def next_places(past):
    """Return the places `[batch, beam]` of the next nodes; None: the past grows."""
    if isinstance(past.used, tuple):
        return None
    beam = ops.shape(past.is_own)[1] if len(past.is_own.shape) == 3 else 1
    return past.used[:, None] + ops.arange(beam, dtype="int32")


def add_own(past, places):
    """Return the past after each hypothesis has got one more node.

    Args:
        past: `Past`.
        places: of `next_places`.
    """
    is_own = past.is_own
    shape = ops.shape(is_own)
    beam = shape[1] if len(shape) == 3 else 1
    if places is not None:
        is_new = ops.arange(shape[-1], dtype="int32") == places[..., None]
        is_own = ops.logical_or(is_own, ops.reshape(is_new, shape))
        return past._replace(is_own=is_own, used=past.used + beam)
    new = ops.eye(beam, dtype="bool") if len(shape) == 3 else ops.ones((1,), "bool")
    new = ops.broadcast_to(new, (*shape[:-1], beam))
    return past._replace(is_own=ops.concatenate([is_own, new], axis=-1))


def add_nodes(nodes, new, places):
    """Return the nodes with one more for each hypothesis.

    Args:
        nodes: `[batch, ..., nodes, depth]`.
        new: `[batch, ..., beam, depth]`.
        places: of `next_places`, or None for a past that grows.
    """
    if places is None:
        return ops.concatenate([nodes, new], axis=-2)
    batch, *inner, room, depth = ops.shape(nodes)
    rows = (batch, math.prod(inner), ops.shape(places)[1])
    index = ops.stack(
        [
            ops.broadcast_to(ops.arange(rows[0], dtype="int32")[:, None, None], rows),
            ops.broadcast_to(ops.arange(rows[1], dtype="int32")[:, None], rows),
            ops.broadcast_to(places[:, None], rows),
        ],
        axis=-1,
    )
    filled = ops.scatter_update(
        ops.reshape(nodes, (batch, rows[1], room, depth)),
        ops.reshape(index, (-1, 3)),
        ops.reshape(new, (-1, depth)),
    )
    return ops.reshape(filled, ops.shape(nodes))
