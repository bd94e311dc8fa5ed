"""Beam search with the penalties of Wu et al. 2016."""

import dataclasses

import tensorflow as tf

from keras_seqattn.checks import check_count, check_number
from keras_seqattn.decoding.candidates import NEG_INF
from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.search import Search, register
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.ops.mask import per_query

# Smaller coverages count as this one, because log 0 = -inf cannot be compared.
UNCOVERED = 1e-6


@register
@dataclasses.dataclass(frozen=True)
class BeamSearch(Search):
    """Beam search with the penalties of Wu et al.

    A finished hypothesis never changes; it keeps its place in the beam as long as it
    is among the best. Open and finished hypotheses are ranked by the same value at
    every step; lengths count the end token. If there are fewer hypotheses than places
    in the beam, places stay empty: score -inf, length 0.

    Args:
        width: number of hypotheses.
        length_penalty: alpha of Wu et al. 0: no penalty; larger values prefer longer
            hypotheses.
        coverage_penalty: beta of Wu et al. 0: no penalty; larger values prefer
            hypotheses that attend to more of the source. Heads count by their mean.
        n_best: how many hypotheses to return, the best first.
        use_early_stop: whether to stop a sentence when no open hypothesis can get among
            the `n_best`: faster, with the same result.
        **kwargs: of `Search`: min_length, forbidden_tokens, no_repeat_ngram.

    Equations:
        s(Y, X) = log(P(Y|X)) / lp(Y) + cp(X; Y)  Wu (14: s)

    Example:
        >>> BeamSearch(5, length_penalty=1.0, n_best=2).width
        5

    References:
        Wu et al. 2016, arXiv:1609.08144.
    """

    width: int = 5
    length_penalty: float = 0.0
    coverage_penalty: float = 0.0
    n_best: int = 1
    use_early_stop: bool = True

    def __post_init__(self):
        super().__post_init__()
        check_count("BeamSearch", "width", self.width, 1)
        check_count("BeamSearch", "n_best", self.n_best, 1)
        check_number("BeamSearch", "length_penalty", self.length_penalty)
        check_number("BeamSearch", "coverage_penalty", self.coverage_penalty)
        if self.n_best > self.width:
            raise four_part_error(
                "BeamSearch got contradictory options",
                "n_best <= width",
                f"n_best={self.n_best} and width={self.width}",
                "Widen the beam, or lower n_best",
            )
        if self.coverage_penalty < 0:
            raise four_part_error(
                "BeamSearch got an unusable coverage_penalty",
                "0 or more",
                abbreviated(self.coverage_penalty),
                "Use 0 for no penalty: a negative one would reward uncovered words",
            )

    @property
    def beam(self):
        return self.width

    @property
    def best_of(self):
        # All continuations of a hypothesis have the same length and coverage, so their
        # order is that of their log-probabilities, and `width` of them are enough.
        return self.width

    def first(self, batch):
        # One empty hypothesis; the other places are free for its continuations.
        row = tf.one_hot(0, self.width, on_value=0.0, off_value=NEG_INF)
        return tf.tile(row[None], [batch, 1])

    def choose(self, candidates, now, at):
        """Return the best continuations of all hypotheses of a sentence."""
        tokens, count = candidates.tokens, candidates.tokens.shape[-1]
        totals = now.log_probs[..., None] + candidates.log_probs
        # A finished hypothesis has one continuation: itself, unchanged.
        unchanged = tf.where(tf.range(count) == 0, now.log_probs[..., None], NEG_INF)
        totals = tf.where(now.finished[..., None], unchanged, totals)
        lengths = now.lengths + tf.cast(~now.finished, tf.int32)
        ranking = self._rank(totals, lengths[..., None], now.coverage, at.mask)
        flat_shape = [tf.shape(ranking)[0], self.width * count]
        _, best = tf.math.top_k(tf.reshape(ranking, flat_shape), self.width)
        return Choice(
            tokens=tf.gather(tf.reshape(tokens, flat_shape), best, batch_dims=1),
            log_probs=tf.gather(tf.reshape(totals, flat_shape), best, batch_dims=1),
            parents=best // count,
        )

    def rank(self, now, mask):
        log_probs, lengths = now.log_probs[..., None], now.lengths[..., None]
        return self._rank(log_probs, lengths, now.coverage, mask)[..., 0]

    def _rank(self, log_probs, lengths, coverage, mask):
        lp, cp = 1.0, 0.0
        if self.length_penalty:
            lp = length_penalty(lengths, self.length_penalty)
        if self.coverage_penalty:
            cp = coverage_penalty(coverage, mask, self.coverage_penalty)[..., None]
        return log_probs / lp + cp  # Wu (14: s)

    def done(self, now, limits, mask):
        all_finished = tf.reduce_all(now.finished, axis=1)
        if not self.use_early_stop:
            return all_finished
        # An upper bound for an open hypothesis: log-probabilities only fall, and the
        # coverage penalty is at most 0. The length penalty is monotonic, so the best
        # length is the present one (alpha < 0) or the greatest one.
        lengths = now.lengths, limits[:, None]
        bounds = [
            now.log_probs / length_penalty(n, self.length_penalty) for n in lengths
        ]
        open_bound = tf.where(now.finished, NEG_INF, tf.maximum(*bounds))
        ranking = tf.where(now.finished, self.rank(now, mask), NEG_INF)
        worst = tf.math.top_k(ranking, self.n_best)[0][:, -1]
        return all_finished | (worst > tf.reduce_max(open_bound, axis=1))


def length_penalty(lengths, alpha):
    """Return the length penalty lp(Y); |Y| counts the end token.

    Args:
        lengths: any shape.
        alpha: 0: no penalty. 0.6 to 1 are usual; larger values prefer longer
            hypotheses.

    Returns:
        float32, the shape of `lengths`. Log-probabilities are divided by it.

    Equations:
        lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha  Wu (14: lp)

    Example:
        >>> length_penalty([1, 7], alpha=1.0).numpy().tolist()
        [1.0, 2.0]

    References:
        Wu et al. 2016, arXiv:1609.08144.
    """
    return ((5.0 + tf.cast(lengths, tf.float32)) / 6.0) ** alpha  # Wu (14: lp)


def coverage_penalty(coverage, mask, beta):
    """Return the coverage penalty cp(X; Y).

    It is 0 when all source positions are covered, and negative otherwise.

    Args:
        coverage: `[batch, ..., source]`, alignments summed over the target.
        mask: `[batch, source]`, True = real, or None.
        beta: 0: no penalty.

    Returns:
        float32 `[batch, ...]`, at most 0, to be added to the log-probability. A
        coverage below 1e-6 counts as 1e-6, because log 0 is infinite.

    Equations:
        cp(X; Y) = beta * sum{log(min(sum{p[i, j] : j}, 1)) : i}  Wu (14: cp)

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
    return beta * tf.reduce_sum(covered, axis=-1)  # Wu (14: cp)
