"""Whole mechanisms: score, align, and the context c_i = sum_j alpha_ij h_j.

Every mechanism is `f(query, value, mask, state, **weights)` for one query per row and
gives (context, alignment, state). `score` is a function of query and value;
`value_kernel` (default None) projects the values before the sum.
"""

import numpy as np

from . import alignment as align
from . import scores


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


def softmax(query, value, mask, state, *, score, value_kernel=None):
    """Bahdanau et al. 2015, eqs. (5), (6); Luong et al. 2015, eq. (7)."""
    alpha = align.masked_softmax(score(query, value), mask)
    return context_of(alpha, value, mask, value_kernel), alpha, state


def location(query, value, mask, state, *, kernel, value_kernel=None):
    """Luong et al. 2015, eq. (8), "location": a_t = softmax(W_a h_t).

    kernel [query_depth, longest_source]: its s-th column is for the s-th real position.
    """
    mask = align.everything_real(*value.shape[:2]) if mask is None else mask
    e = [(s @ kernel)[row - 1] for s, row in zip(query, align.count(mask), strict=True)]
    alpha = align.masked_softmax(np.array(e), mask)  # (8)
    return context_of(alpha, value, mask, value_kernel), alpha, state


def local_m(query, value, mask, state, *, score, window, value_kernel=None):
    """Luong et al. 2015, section 3.2, local-m. state [batch]: steps done, from 0."""
    t = np.asarray(state) + 1  # p_t = t
    alpha = align.local_m(score(query, value), t, window, mask)
    return context_of(alpha, value, mask, value_kernel), alpha, t


def local_p(query, value, mask, state, *, score, window, position, value_kernel=None):
    """Luong et al. 2015, eqs. (9), (10); position: `align.predicted_position`."""
    real = align.everything_real(*value.shape[:2]) if mask is None else mask
    p = position(query, np.sum(real, axis=1))
    alpha = align.local_p(score(query, value), p, window, mask)
    return context_of(alpha, value, mask, value_kernel), alpha, state


def monotonic(query, value, mask, state, *, score, step, r, value_kernel=None):
    """Raffel et al. 2017, eqs. (11)-(14). state [batch, source]: alpha_{i-1}.

    step: `align.soft_monotonic`, or one of its others. r is the bias in (16).
    """
    e = score(query, value) + r  # (11)
    alpha = step(align.sigmoid(e), state, mask)  # (12)
    return context_of(alpha, value, mask, value_kernel), alpha, alpha


def coverage(query, value, mask, state, *, value_kernel=None, **weights):
    """See et al. 2017, eqs. (1)-(3), (10), (11). state [batch, source]: c^t."""
    e = scores.coverage_additive(query, value, state, **weights)  # (11)
    alpha = align.masked_softmax(e, mask)  # (2)
    context = context_of(alpha, value, mask, value_kernel)  # (3)
    return context, alpha, align.coverage_update(state, alpha)  # (10)


def location_sensitive(query, value, mask, state, *, value_kernel=None, **weights):
    """Chorowski et al. 2015, eqs. (6), (8), (9). state [batch, source]: alpha_{i-1}."""
    e = scores.location_sensitive(query, value, state, **weights)
    alpha = align.masked_softmax(e, mask)  # (6)
    return context_of(alpha, value, mask, value_kernel), alpha, alpha


def multi_head_additive(
    query, value, mask, state, *, value_kernel=None, output_kernel=None, **weights
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


def multi_head_dot(
    query, value, mask, state, *, to_query, to_key, to_value, to_context
):
    """Vaswani et al. 2017, section 3.2.2. Kernels [depth, heads, d] with biases."""

    def projected(x, kernel, bias):
        return np.einsum("...i,ihd->h...d", x, kernel) + bias.reshape(
            [len(bias), *[1] * (x.ndim - 1), -1]
        )

    value = value if mask is None else np.where(mask[..., None], value, 0)
    q, k = projected(query, *to_query), projected(value, *to_key)
    v = projected(value, *to_value)
    e = np.einsum("hbd,hbsd->bhs", q, k) / np.sqrt(q.shape[-1])  # (1)
    alpha = align.masked_softmax(e, mask)
    heads = np.einsum("bhs,hbsd->bhd", alpha, v)
    kernel, bias = to_context
    return heads.reshape(len(query), -1) @ kernel + bias, alpha, state
