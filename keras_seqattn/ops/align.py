"""From scores to alignments (softmax, windows, monotonic), and from these to contexts.

Everything here computes in float32 (or float64), because half precision can hold
neither the mask value nor a product of many probabilities. Shapes: scores `[batch, ...,
source]`, mask `[batch, source]` (or that of the scores, where it differs from query to
query) or None, results as the scores.
"""

from keras import ops

from keras_seqattn.ops.loop_ops import multiply_each
from keras_seqattn.ops.mask import per_query, per_score, row_positions
from keras_seqattn.ops.precision import at_least_float32

LOWEST = -1e9  # finite, so that no gradient becomes NaN; exp of it is exactly 0


def masked_softmax(scores, mask=None):
    """`alignment[b, s] = exp(scores[b, s]) / sum{exp(scores[b, r]) : r real}`.

    A row with nothing real to attend to gets zeros.
    """
    scores = at_least_float32(scores)
    if mask is not None:
        mask = per_score(mask, scores)
        scores = ops.where(mask, scores, LOWEST)
    alignment = _softmax(scores)  # Bahdanau (6)
    return alignment if mask is None else ops.where(mask, alignment, 0.0)


def _softmax(scores):
    # `ops.softmax` warns about an axis of size 1, but one source position is fine.
    return ops.exp(ops.log_softmax(scores, axis=-1))


def position_window(center, positions, width):
    """Luong et al. 2015: the source positions 1..S in `[p_t - D, p_t + D]`.

    Args:
        center: `[batch, ...]`, p_t, counted from 1.
        positions: `[batch, source]`, s, of `ops.mask.row_positions`.
        width: D.

    Returns:
        distances s - p_t, `[batch, ..., source]`, and the window, a mask of that shape.
    """
    positions = per_query(ops.cast(positions, center.dtype), len(center.shape) + 1)
    distances = positions - center[..., None]
    return distances, ops.abs(distances) <= width


def predicted_position(lengths, query, v):
    """Luong et al. 2015: `p_t = S * sigmoid(v_p . tanh(W_p h_t))`.

    Args:
        lengths: `[batch]`, number of real source positions S.
        query: `[batch, ..., units]`, already multiplied by W_p.
        v: `[units]`, v_p.

    Returns:
        `[batch, ...]`, float32 at least, counted from 1.
    """
    share = at_least_float32(ops.einsum("...u,u->...", ops.tanh(query), v))
    lengths = ops.reshape(lengths, (-1,) + (1,) * (len(share.shape) - 1))
    return ops.cast(lengths, share.dtype) * ops.sigmoid(share)  # Luong (9)


def gaussian(distances, width):
    """Luong et al. 2015: the factor that favours positions near p_t, sigma = D / 2."""
    sigma = width / 2.0
    return ops.exp(-ops.square(distances) / (2.0 * sigma**2))


def no_position(values):
    """The alignment before any query: zeros, for values `[batch, source, ...]`."""
    return at_least_float32(ops.zeros(ops.shape(values)[:2], values.dtype))


def first_position(values, mask=None):
    """The alignment before the first query, alpha_0: all on the first real position.

    Args:
        values: `[batch, source, ...]`.
        mask: `[batch, source]`, or None when everything is real.
    """
    first = ops.arange(ops.shape(values)[1]) == 0
    if mask is not None:
        first = ops.logical_and(row_positions(mask, values) == 1, mask)
    return ops.where(first, 1.0, no_position(values))


def monotonic_alignment(choose, previous):
    """Raffel et al. 2017, the expected alignment of a monotonic process.

    The process starts at its last position, walks to the right, and stops at position s
    with probability `choose[s]`; `q[s]` is the probability that it reaches s:
    `q[b, s] = (1 - choose[b, s-1]) * q[b, s-1] + previous[b, s]` and
    `alignment[b, s] = choose[b, s] * q[b, s]`.

    Args:
        choose: `[batch, ..., source]`, p_{i,j}; 0 at padding.
        previous: `[batch, ..., source]`, the alignment one step before.
    """
    walk_on = ops.concatenate(
        [ops.zeros_like(choose[..., :1]), 1.0 - choose[..., :-1]], axis=-1
    )
    q = linear_recurrence(walk_on, previous)  # Raffel (13)
    return choose * q  # Raffel (14)


def linear_recurrence(keep, add):
    """`q[s] = keep[s] * q[s-1] + add[s]`, exact, in log2(source) steps.

    After the doubling k, `keep` has the product of the last k factors, and `q` the sum
    over the last k positions. As `keep[0]` is 0, every product that reaches beyond the
    first position is 0: it cancels the values that `roll` wraps around.

    Args:
        keep: `[..., source]`, where `keep[..., 0]` is 0: nothing comes before it.
        add: `[..., source]`.
    """

    def double(k, keep, q):
        earlier = ops.roll(q, k, axis=-1)
        return 2 * k, keep * ops.roll(keep, k, axis=-1), q + keep * earlier

    source = ops.shape(add)[-1]
    if isinstance(source, int):
        k, q = 1, add
        while k < source:
            k, keep, q = double(k, keep, q)
        return q
    k = ops.convert_to_tensor(1, "int32")
    powers = ops.convert_to_tensor([2**i for i in range(30)], "int32")
    doublings = ops.sum(ops.cast(powers < source, "int32"))
    return ops.while_loop(
        lambda k, *_: k < source,
        double,
        (k, keep, add),
        maximum_iterations=ops.maximum(doublings, 1),  # XLA sizes its stacks by it
    )[-1]


def closed_monotonic_alignment(choose, previous):
    """`monotonic_alignment` as published in closed form: two scans over the source.

    It divides by the probability of passing all positions before s, the product of
    `1 - choose`, clipped at 1e-10 as in the authors' code. Where that product is
    smaller, the clip loses alignment, and its gradient: from the 34th position on with
    `choose` = 1/2, and behind a single position with `choose` = 1.
    """
    still = ops.cumprod(1.0 - choose, axis=-1)
    still = ops.concatenate([ops.ones_like(still[..., :1]), still[..., :-1]], axis=-1)
    came = ops.cumsum(previous / ops.clip(still, 1e-10, 1.0), axis=-1)
    return choose * still * came  # Raffel (C.1)


def hard_monotonic_alignment(choose, previous):
    """Raffel et al. 2017 at inference: one position, or none.

    It is the first one, from the last position on, with `choose > 0.5`.
    """
    reached = ops.cumsum(previous, axis=-1)  # 0 before the last position, 1 from it on
    candidates = ops.where(choose > 0.5, reached, 0.0)
    earlier = ops.cumsum(candidates, axis=-1) - candidates
    return ops.where(earlier < 0.5, candidates, 0.0)


def coverage_update(coverage, alignment):
    """See et al. 2017: the sum of all past alignments, `c_t = sum{a_t' : t' < t}`."""
    return coverage + ops.cast(alignment, coverage.dtype)  # See (10)


def context_vector(alignment, values):
    """`context[b, m] = sum{alignment[b, s] * values[b, s, m] : s}`.

    Args:
        alignment: `[batch, ..., source]`.
        values: `[batch, source, memory_depth]`.

    Returns:
        `[batch, ..., memory_depth]`.
    """
    # A product of matrices, alignment [.., source] times values [source, memory_depth].
    return multiply_each(alignment, values)  # Bahdanau (5)


def multi_head_context(alignment, values):
    """`context[b, h, v] = sum{alignment[b, h, s] * values[b, s, h, v] : s}`.

    Args:
        alignment: `[batch, ..., heads, source]`.
        values: `[batch, source, heads, depth]`.

    Returns:
        `[batch, ..., heads, depth]`.
    """
    return ops.einsum(  # Bahdanau (5: each head)
        "b...hs,bshv->b...hv", alignment, values
    )
