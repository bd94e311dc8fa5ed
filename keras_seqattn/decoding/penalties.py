"""Wu et al. 2016: what a hypothesis is worth beside its log-probability."""

import tensorflow as tf

from keras_seqattn.ops.mask import per_query

# Below this a source position counts as uncovered: log 0 would end every comparison.
UNCOVERED = 1e-6


def length_penalty(lengths, alpha):
    """`lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha`; |Y| counts the end token.

    Args:
        lengths: any shape.
        alpha: 0: no penalty; 0.6 to 1 are usual: longer hypotheses win.

    Returns:
        float32, the shape of `lengths`. Log-probabilities are divided by it.

    Equations:
        lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha  (14)

    Example:
        >>> length_penalty([1, 7], alpha=1.0).numpy().tolist()
        [1.0, 2.0]

    References:
        Wu et al. 2016, arXiv:1609.08144.
    """
    return ((5.0 + tf.cast(lengths, tf.float32)) / 6.0) ** alpha  # (14)


def coverage_penalty(coverage, mask, beta):
    """`cp(X; Y) = beta * sum_i log(min(sum_j p_ij, 1))`, zero when all is covered.

    Args:
        coverage: `[batch, ..., source]`, alignments summed over the target.
        mask: `[batch, source]`, True = real, or None.
        beta: 0: no penalty.

    Returns:
        float32 `[batch, ...]`, at most 0. Added to the log-probability. A position
        counts as uncovered below 1e-6, where the logarithm stops.

    Equations:
        cp(X; Y) = beta * sum{log(min(sum{p[i, j] : j}, 1)) : i}  (14)

    Example:
        >>> seen = np.array([[0.5, 1.0, 0.0]], "float32")  # the last one is padding
        >>> penalty = coverage_penalty(seen, np.array([[True, True, False]]), beta=1.0)
        >>> np.testing.assert_allclose(penalty, [np.log(0.5)], rtol=1e-6)

    References:
        Wu et al. 2016, arXiv:1609.08144.
    """
    covered = tf.math.log(tf.clip_by_value(coverage, UNCOVERED, 1.0))
    if mask is not None:
        covered = tf.where(per_query(mask, len(coverage.shape)), covered, 0.0)
    return beta * tf.reduce_sum(covered, axis=-1)  # (14)
