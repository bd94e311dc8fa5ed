"""Masks: True = real. Padding may hold any value, NaN included."""

from keras import ops


def zero_padding(values, mask):
    """Replace padding by zeros, whatever it holds.

    `where` and not a product, because `0 * NaN` is NaN.

    Args:
        values: `[batch, time, ...]`.
        mask: `[batch, time]`, or None when everything is real.

    Returns:
        `[batch, time, ...]`.
    """
    if mask is None:
        return values
    mask = ops.reshape(mask, ops.shape(mask) + (1,) * (len(values.shape) - 2))
    return ops.where(mask, values, ops.zeros((), values.dtype))


def both(mask, other):
    """A mask that is True where two masks are; None stands for one that is all True."""
    if mask is None or other is None:
        return other if mask is None else mask
    return ops.logical_and(mask, other)


def per_query(x, query_rank):
    """Reshape `x`, prepared once per source, to broadcast over the axes of a query.

    Args:
        x: `[batch, ...]`, e.g. keys `[batch, source, units]`.
        query_rank: rank of the query `[batch, ..., query_depth]`.

    Returns:
        `[batch, 1, ..., ...]` with one axis of size 1 for every axis that the query
        has between batch and depth: none for one step, target for a sequence, beam in
        a search. Nothing is copied.
    """
    shape = ops.shape(x)
    return ops.reshape(x, shape[:1] + (1,) * (query_rank - 2) + shape[1:])


def per_score(mask, scores):
    """Reshape a mask to broadcast over scores `[batch, ..., (heads,) source]`.

    Args:
        mask: `[batch, source]`, or one for each query, `[batch, target, source]`.
        scores: their rank counts.
    """
    rank = len(scores.shape)
    if len(mask.shape) == 2:
        return per_query(mask, rank)
    return mask if len(mask.shape) == rank else mask[..., None, :]  # over the heads


def causal_mask(target, mask=None):
    """Return which positions of its own sequence each one may read: no later ones.

    Args:
        target: the number of positions.
        mask: `[batch, target]`, True = real, or None.

    Returns:
        bool `[batch or 1, target, target]`.
    """
    places = ops.arange(target)
    earlier = (places[None] <= places[:, None])[None]  # Vaswani (3.2.3)
    return earlier if mask is None else ops.logical_and(earlier, mask[:, None])


def row_lengths(mask, like):
    """Return the number of real positions of each row, float32 `[batch]`.

    Args:
        mask: `[batch, source]`, or None when everything is real.
        like: `[batch, source, ...]`, gives the size when there is no mask.
    """
    if mask is None:
        mask = ops.ones(ops.shape(like)[:2], "bool")
    return ops.sum(ops.cast(mask, "float32"), axis=-1)


def row_positions(mask, like):
    """Number the real positions of each row from 1 on, int32 `[batch, source]`.

    Padding is not counted, so it may be on the left, too. Its own numbers mean nothing.

    Args:
        mask: `[batch, source]`, or None when everything is real.
        like: `[batch, source, ...]`, gives the size when there is no mask.
    """
    if mask is None:
        mask = ops.ones(ops.shape(like)[:2], "bool")
    return ops.cumsum(ops.cast(mask, "int32"), axis=1)


def carry_mask(tensor, mask):
    """Attach an explicitly passed mask, so that the next Keras layers see it too."""
    if mask is not None:
        tensor._keras_mask = mask
    return tensor
