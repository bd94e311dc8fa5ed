"""Scores e_ij of one query per row against every source position.

query [batch, query_depth], value [batch, source, memory_depth] -> [batch, source].
In the comments s is the query s_{i-1} (Luong: h_t) and h the memory h_j (h_s).
"""

import numpy as np


def each(query, value, score):
    """scores[n, j] = score(s_n, h_nj), one pair at a time."""
    return np.array(
        [[score(s, h) for h in row] for s, row in zip(query, value, strict=True)],
        dtype="float64",
    )


def additive(query, value, *, query_kernel, key_kernel, v, g=None, b=0.0):
    """Bahdanau et al. 2015, section A.1.2; normalised form when `g` is given.

    A.1.2:    e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)
    Raffel et al. 2017, eq. (16), numbering to be checked:
              e_ij = g v / ||v|| . tanh(W s_{i-1} + V h_j + b) + r
    without r, which `attention.monotonic` adds. The weight norm is that of Salimans &
    Kingma 2016, eq. (2).
    """
    direction = v if g is None else g * v / np.sqrt(np.sum(v * v))
    return each(
        query,
        value,
        lambda s, h: direction @ np.tanh(s @ query_kernel + h @ key_kernel + b),
    )


def dot(query, value, *, scale=1.0):
    """Luong et al. 2015, section 3.1, "dot": score(h_t, h_s) = h_t . h_s.

    `scale` is the learned scalar of the toolkits, not in the paper.
    """
    return each(query, value, lambda s, h: scale * (s @ h))


def scaled_dot(query, value, *, scale=1.0):
    """Vaswani et al. 2017, eq. (1): q . k / sqrt(depth)."""
    return each(query, value, lambda s, h: scale * (s @ h) / np.sqrt(len(s)))


def general(query, value, *, kernel, scale=1.0):
    """Luong et al. 2015, section 3.1, "general": h_t . W_a h_s.

    kernel is W_a itself, [query_depth, memory_depth]: not in the layout of a Dense
    on the memory, which holds its transpose.
    """
    return each(query, value, lambda s, h: scale * (s @ (kernel @ h)))


def concat(query, value, *, kernel, v, b=0.0):
    """Luong et al. 2015, section 3.1, "concat": v_a . tanh(W_a [h_t; h_s]).

    kernel [query_depth + memory_depth, units], the rows of the query first.
    """
    return each(
        query, value, lambda s, h: v @ np.tanh(np.concatenate([s, h]) @ kernel + b)
    )


def projected_dot(query, value, *, query_kernel, key_kernel, factor=1.0):
    """(W_Q q) . (W_K h), Vaswani et al. 2017, section 3.2.2, one head.

    Not divided by sqrt(units): pass that as `factor` where it is wanted.
    """
    return each(
        query, value, lambda s, h: factor * ((s @ query_kernel) @ (h @ key_kernel))
    )


def one_layer(query, value, *, w, b=0.0):
    """The one-layer form of lecture notes: tanh(w . [s; h]), a number in (-1, 1)."""
    return each(query, value, lambda s, h: np.tanh(w @ np.concatenate([s, h]) + b))


def additive_with(extra, query, value, *, query_kernel, key_kernel, v, b=0.0):
    """v . tanh(W s + U h_j + extra_j + b), extra [batch, source, units]."""
    rows = []
    for s, memory, more in zip(query, value, extra, strict=True):
        hidden = [
            np.tanh(s @ query_kernel + h @ key_kernel + more[j] + b)
            for j, h in enumerate(memory)
        ]
        rows.append([v @ x for x in hidden])
    return np.array(rows)


def coverage_additive(query, value, coverage, *, coverage_kernel, **weights):
    """See et al. 2017, eq. (11): e_i = v . tanh(W_h h_i + W_s s_t + w_c c_i + b).

    coverage [batch, source]; coverage_kernel is the vector w_c, [units].
    """
    w_c = np.reshape(coverage_kernel, [-1])
    return additive_with(coverage[..., None] * w_c, query, value, **weights)  # (11)


def location_features(alignment, filters):
    """Chorowski et al. 2015, eq. (8): f_i = F * alpha_{i-1}, [batch, source, filters].

    filters [width, filters] or Keras's [width, 1, filters]. As Conv1D with
    padding="same": cross-correlation, (width - 1) // 2 zeros on the left.
    """
    filters = np.reshape(filters, [filters.shape[0], filters.shape[-1]])
    width = len(filters)
    left = (width - 1) // 2
    batch, source = alignment.shape
    features = np.zeros([batch, source, filters.shape[1]])
    for n in range(batch):
        for j in range(source):
            for k in range(width):
                neighbour = j + k - left
                if 0 <= neighbour < source:
                    features[n, j] += filters[k] * alignment[n, neighbour]  # (8)
    return features


def location_sensitive(query, value, alignment, *, filters, location_kernel, **weights):
    """Chorowski et al. 2015, eq. (9): e_ij = w . tanh(W s + V h_j + U f_ij + b).

    alignment [batch, source] is alpha_{i-1}; location_kernel is U, [filters, units].
    """
    features = location_features(alignment, filters)
    return additive_with(features @ location_kernel, query, value, **weights)  # (9)


def multi_head_additive(query, value, *, query_kernel, key_kernel, v, b=None):
    """Chen et al. 2018 (RNMT+), section 4.1: A.1.2 in every head. No number.

    query_kernel [query_depth, heads, units], key_kernel [memory_depth, heads, units],
    v and b [heads, units] -> [batch, heads, source].
    """
    heads = [
        additive(
            query,
            value,
            query_kernel=query_kernel[:, k],
            key_kernel=key_kernel[:, k],
            v=v[k],
            b=0.0 if b is None else b[k],
        )
        for k in range(len(v))
    ]
    return np.stack(heads, axis=1)
