"""Whole mechanisms: score, align, and the context c_i = sum_j alpha_ij h_j.

Every mechanism is `f(query, value, mask, state, **weights)` for one query per row and
gives (context, alignment, state); `bind` fixes the memory for the decoders. Each
takes `value_kernel` (default None), a projection of the values before the sum.
"""

import numpy as np

from . import alignment as align
from . import scores
from .precision import float64


def bind(mechanism, value, mask=None, **weights):
    """attend(query, state) -> (context, alignment, state), as the decoders want it."""
    return lambda query, state: mechanism(query, value, mask, state, **weights)


def over_targets(attend, queries, state=()):
    """One query after the other: queries [batch, target, query_depth].

    -> contexts [batch, target, ...], alignments [batch, target, ..., source], state.
    """
    contexts, alignments = [], []
    for t in range(queries.shape[1]):
        context, alignment, state = attend(queries[:, t], state)
        contexts.append(context)
        alignments.append(alignment)
    return np.stack(contexts, axis=1), np.stack(alignments, axis=1), state


@float64
def context_of(alignment, value, mask=None, value_kernel=None):
    """Bahdanau et al. 2015, eq. (5): c_i = sum_j alpha_ij h_j, real positions only."""
    batch, source, depth = value.shape
    mask = align.everything_real(batch, source) if mask is None else mask
    context = np.zeros(
        [batch, depth if value_kernel is None else value_kernel.shape[1]]
    )
    for n in range(batch):
        for j in range(source):
            if mask[n, j]:
                h = value[n, j]
                h = h if value_kernel is None else h @ value_kernel
                context[n] += alignment[n, j] * h  # (5)
    return context


def _softmax(e, value, mask, state, value_kernel):
    alpha = align.masked_softmax(e, mask)
    return context_of(alpha, value, mask, value_kernel), alpha, state


@float64
def bahdanau(query, value, mask=None, state=(), *, value_kernel=None, **weights):
    """Bahdanau et al. 2015, eqs. (5), (6), A.1.2; weights of `scores.additive`."""
    e = scores.additive(query, value, **weights)
    return _softmax(e, value, mask, state, value_kernel)


@float64
def luong(
    query, value, mask=None, state=(), *, score="dot", value_kernel=None, **weights
):
    """Luong et al. 2015, eq. (7), with any plain score of `scores` by name."""
    e = getattr(scores, score)(query, value, **weights)
    return _softmax(e, value, mask, state, value_kernel)


@float64
def local_m(
    query, value, mask, state, *, window, score="dot", value_kernel=None, **weights
):
    """Luong et al. 2015, section 3.2, local-m. state [batch]: steps done, from 0."""
    e = getattr(scores, score)(query, value, **weights)
    t = np.asarray(state) + 1  # p_t = t
    alpha = align.local_m(e, t, window, mask)
    return context_of(alpha, value, mask, value_kernel), alpha, t


@float64
def local_p(
    query,
    value,
    mask=None,
    state=(),
    *,
    window,
    position_kernel,
    position_v,
    score="dot",
    value_kernel=None,
    **weights,
):
    """Luong et al. 2015, eqs. (9), (10)."""
    batch, source = value.shape[:2]
    mask = align.everything_real(batch, source) if mask is None else mask
    e = getattr(scores, score)(query, value, **weights)
    p = align.predicted_position(
        query,
        np.sum(mask, axis=1),
        position_kernel=position_kernel,
        position_v=position_v,
    )
    alpha = align.local_p(e, p, window, mask)
    return context_of(alpha, value, mask, value_kernel), alpha, state


@float64
def monotonic(
    query,
    value,
    mask,
    state,
    *,
    score="additive",
    mode="soft",
    value_kernel=None,
    **weights,
):
    """Raffel et al. 2017, eqs. (11)-(14). state [batch, source]: alpha_{i-1}.

    mode "soft" (the recursion), "parallel" (closed form with a floor) or "hard".
    """
    e = getattr(scores, score)(query, value, **weights)  # (11)
    step = getattr(align, mode + "_monotonic")
    alpha = step(align.sigmoid(e), state, mask)  # (12)
    return context_of(alpha, value, mask, value_kernel), alpha, alpha


@float64
def coverage(query, value, mask, state, *, value_kernel=None, **weights):
    """See et al. 2017, eqs. (1)-(3), (10), (11). state [batch, source]: c^t."""
    e = scores.coverage_additive(query, value, state, **weights)  # (11)
    alpha = align.masked_softmax(e, mask)  # (2)
    context = context_of(alpha, value, mask, value_kernel)  # (3)
    return context, alpha, align.coverage_update(state, alpha)  # (10)


@float64
def location_sensitive(query, value, mask, state, *, value_kernel=None, **weights):
    """Chorowski et al. 2015, eqs. (6), (8), (9). state [batch, source]: alpha_{i-1}."""
    e = scores.location_sensitive(query, value, state, **weights)
    alpha = align.masked_softmax(e, mask)  # (6)
    return context_of(alpha, value, mask, value_kernel), alpha, alpha


@float64
def multi_head_additive(
    query,
    value,
    mask=None,
    state=(),
    *,
    value_kernel=None,
    output_kernel=None,
    **weights,
):
    """Chen et al. 2018 (RNMT+), section 4.1: heads side by side in the context.

    value_kernel [memory_depth, heads, head_depth], or None: every head sums the
    memory itself. output_kernel [heads * head_depth, units] mixes the heads.
    -> context [batch, heads * head_depth] or [batch, units], [batch, heads, source].
    """
    e = scores.multi_head_additive(query, value, **weights)
    alpha = align.masked_softmax(e, mask)
    heads = []
    for k in range(alpha.shape[1]):
        kernel = None if value_kernel is None else value_kernel[:, k]
        heads.append(context_of(alpha[:, k], value, mask, kernel))
    context = np.concatenate(heads, axis=-1)
    context = context if output_kernel is None else context @ output_kernel
    return context, alpha, state
