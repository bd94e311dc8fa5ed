"""Scores: how well a query fits each source position, before normalisation.

Every function takes a query `[batch, ..., depth]` and keys `[batch, source, depth]`
that were projected once per source, and returns `[batch, ..., source]`. The axes
between batch and depth are independent queries: none for one decoder step, target for a
whole sequence, beam in a search.

Symbols: query = s_{i-1} (Bahdanau) or h_t (Luong); keys = U_a h_j or W_a h_s.
"""

from keras import ops

from keras_seqattn.ops.align import LOWEST
from keras_seqattn.ops.loop_ops import multiply_each
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32


def additive_score(query, keys, v, bias=None):
    """Bahdanau et al. 2015: `e[b, s] = sum{v[u] * tanh(q[b, u] + k[b, s, u]) : u}`.

    Luong et al.'s concat is the same: `W_a [h_t; h_s]` is a sum of two products.

    Args:
        query: `[batch, ..., units]`, already multiplied by W_a.
        keys: `[batch, source, units]`, already multiplied by U_a; or, where the keys
            differ from query to query, `[batch, ..., source, units]`.
        v: `[units]`.
        bias: `[units]` inside the tanh, or None.

    Returns:
        scores, at least float32: processors have no tanh in half precision.
    """
    # query = W_a s_{i-1}, keys = U_a h_j
    query, keys, v = map(at_least_float32, (query, keys, v))
    return _dot(ops.tanh(_sum_of(query, keys, bias)), v)  # Bahdanau (A.1.2)


def _sum_of(query, keys, bias):
    """`q + k (+ bias)` of each query and position, `[batch, ..., source, units]`."""
    if len(keys.shape) != len(query.shape) + 1:
        keys = per_query(keys, len(query.shape))
    hidden = query[..., None, :] + keys
    return hidden if bias is None else hidden + at_least_float32(bias)


def _dot(hidden, v):
    """`sum{hidden[..., u] * v[u] : u}`, as a product of matrices.

    XLA cannot compile the gradient of `ops.dot` inside a loop when neither batch nor
    source is known, and that of `ops.einsum` is slower.
    """
    rows = ops.matmul(ops.reshape(hidden, (-1, v.shape[0])), v[:, None])
    return ops.reshape(rows, ops.shape(hidden)[:-1])


def normalized_v(v, g):
    """Salimans & Kingma 2016: v with the direction of v and the length g.

    Args:
        v: `[units]`.
        g: scalar.

    Returns:
        `[units]`.
    """
    return g * v * ops.rsqrt(ops.sum(ops.square(v)))  # Salimans (2)


def one_layer_score(query, keys):
    """Lecture form without v: `tanh(w . [query; key])`, one row w for a scalar score.

    Args:
        query: `[batch, ..., 1]`, already multiplied by its part of w.
        keys: `[batch, source, 1]`, already multiplied by its part of w.
    """
    hidden = query[..., None, :] + per_query(keys, len(query.shape))
    return ops.tanh(hidden)[..., 0]


def dot_score(query, keys, scale=None):
    """Luong et al. 2015, dot; with keys = W_a h_s it is their general score.

    Args:
        query: `[batch, ..., units]`.
        keys: `[batch, source, units]`.
        scale: scalar factor (learned, or `units ** -0.5`), or None.
    """
    if scale is not None:
        query = query * scale  # before the sum, which may overflow in half precision
    return multiply_each(query, keys, transposed=True)  # Luong (3.1: dot)


def location_score(query_positions, positions):
    """Luong et al. 2015, location: the scores are `W_a h_t`; they ignore the source.

    "For short sentences, we only use the top part of a_t and for long sentences, we
    ignore words near the end": the s-th real position gets the s-th score, and those
    beyond the size of W_a get the score `LOWEST`.

    Args:
        query_positions: `[batch, ..., maximum_source]`, W_a h_t.
        positions: `[batch, source]`, s, of `ops.mask.row_positions`.
    """
    maximum = query_positions.shape[-1]
    positions = per_query(positions, len(query_positions.shape))
    places = ops.clip(positions, 1, maximum) - 1
    scores = ops.take_along_axis(query_positions, places, axis=-1)
    scores = at_least_float32(scores)
    return ops.where(positions <= maximum, scores, LOWEST)  # Luong (8)


def multi_head_additive_score(query, keys, v):
    """Chen et al. 2018 (RNMT+): the additive score, one per head.

    Args:
        query: `[batch, ..., heads, units]`.
        keys: `[batch, source, heads, units]`.
        v: `[heads, units]`.

    Returns:
        `[batch, ..., heads, source]`, in float32.
    """
    query, keys, v = map(at_least_float32, (query, keys, v))
    keys = per_query(keys, len(query.shape) - 1)
    hidden = ops.tanh(query[..., None, :, :] + keys)
    return ops.einsum(  # Bahdanau (A.1.2: each head)
        "...shu,hu->...hs", hidden, v
    )
