"""The k best hypotheses at every step."""

import dataclasses

import tensorflow as tf

from keras_seqattn.checks import check_count, check_number
from keras_seqattn.decoding.constraints import NEVER
from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.penalties import coverage_penalty, length_penalty
from keras_seqattn.decoding.search import Search, register
from keras_seqattn.errors import four_part_error


@register
@dataclasses.dataclass(frozen=True)
class BeamSearch(Search):
    """Keeps the best hypotheses by log-probability and the penalties of Wu et al.

    A finished hypothesis never changes; it keeps its place in the beam as long as it
    is among the best. The ranking is the same at every step, for open hypotheses and
    for finished ones; lengths count the end token. A wider beam than there are
    hypotheses has empty places: score -inf, length 0.

    Args:
        width: number of hypotheses.
        length_penalty: alpha of Wu et al.; 0: none, higher: longer hypotheses.
        coverage_penalty: beta of Wu et al.; 0: none, higher: more of the source is
            attended to. Heads count by their mean.
        n_best: how many to return, the best first.
        use_early_stop: whether to stop when no open hypothesis can get among the
            `n_best`; the result is the same, sooner.
        **kwargs: of `Search`: min_length, forbidden_tokens, no_repeat_ngram.

    Equations:
        s(Y, X) = log(P(Y|X)) / lp(Y) + cp(X; Y)  (14)

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
                "Widen the beam, or ask for fewer hypotheses",
            )
        if self.coverage_penalty < 0:
            raise four_part_error(
                "BeamSearch got an unusable coverage_penalty",
                "0 or more",
                repr(self.coverage_penalty),
                "Use 0 for none: below it, what is left out would be rewarded",
            )

    @property
    def beam(self):
        return self.width

    @property
    def best_of(self):
        # All continuations of a hypothesis are equally long and covered: more of them
        # than there are places cannot be among the best.
        return self.width

    def first(self, batch):
        # One hypothesis, the empty one; the other places wait for its continuations.
        row = tf.one_hot(0, self.width, on_value=0.0, off_value=NEVER)
        return tf.tile(row[None], [batch, 1])

    def choose(self, candidates, now, at):
        """The best of all candidates: the penalties are needed for these only."""
        tokens, count = candidates.tokens, candidates.tokens.shape[-1]
        totals = now.log_probs[..., None] + candidates.log_probs
        itself = tf.where(tf.range(count) == 0, now.log_probs[..., None], NEVER)
        totals = tf.where(now.finished[..., None], itself, totals)
        longer = now.lengths + tf.cast(~now.finished, tf.int32)
        ranking = self._rank(totals, longer[..., None], now.coverage, at.mask)
        flat = [tf.shape(ranking)[0], self.width * count]
        _, best = tf.math.top_k(tf.reshape(ranking, flat), self.width)
        return Choice(
            tokens=tf.gather(tf.reshape(tokens, flat), best, batch_dims=1),
            log_probs=tf.gather(tf.reshape(totals, flat), best, batch_dims=1),
            parents=best // count,
        )

    def rank(self, now, mask):
        log_probs, lengths = now.log_probs[..., None], now.lengths[..., None]
        return self._rank(log_probs, lengths, now.coverage, mask)[..., 0]

    def _rank(self, log_probs, lengths, coverage, mask):
        if self.length_penalty:
            log_probs /= length_penalty(lengths, self.length_penalty)  # (14)
        if self.coverage_penalty:
            covered = coverage_penalty(coverage, mask, self.coverage_penalty)
            log_probs += covered[..., None]  # (14)
        return log_probs

    def done(self, now, limits, mask):
        all_finished = tf.reduce_all(now.finished, axis=1)
        if not self.use_early_stop:
            return all_finished
        # Log-probabilities only fall, and at best everything gets covered. Divided by
        # a longer length they may rise: the bound is the better of the two ends. (With
        # alpha < 0 that is the length they have: none may stay in front unfinished.)
        ends = now.lengths, limits[:, None]
        bounds = [now.log_probs / length_penalty(n, self.length_penalty) for n in ends]
        open_bound = tf.where(now.finished, NEVER, tf.maximum(*bounds))
        ranking = tf.where(now.finished, self.rank(now, mask), NEVER)
        worst = tf.math.top_k(ranking, self.n_best)[0][:, -1]
        return all_finished | (worst > tf.reduce_max(open_bound, axis=1))
