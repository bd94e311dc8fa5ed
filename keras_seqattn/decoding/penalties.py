"""The penalties for length and coverage of Wu et al. 2016."""

import tensorflow as tf

from keras_seqattn.ops.mask import per_query

# Smaller coverages count as this one, because log 0 = -inf cannot be compared.
UNCOVERED = 1e-6


def length_penalty(lengths, alpha):
    """Return `lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha`; |Y| counts the end token.

    Args:
        lengths: any shape.
        alpha: 0: no penalty. 0.6 to 1 are usual; larger values prefer longer
            hypotheses.

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
    """Return `cp(X; Y) = beta * sum_i log(min(sum_j p_ij, 1))`.

    It is 0 when all source positions are covered, and negative otherwise.

    Args:
        coverage: `[batch, ..., source]`, alignments summed over the target.
        mask: `[batch, source]`, True = real, or None.
        beta: 0: no penalty.

    Returns:
        float32 `[batch, ...]`, at most 0, to be added to the log-probability. A
        coverage below 1e-6 counts as 1e-6, because log 0 is infinite.

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
