"""Sampling: tokens drawn from the distribution of the model."""

import dataclasses

import tensorflow as tf

from keras_seqattn.checks import check_count, check_number
from keras_seqattn.decoding.candidates import NEG_INF
from keras_seqattn.decoding.greedy import add_log_probs
from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.search import Search, register
from keras_seqattn.errors import abbreviated, four_part_error


@register
@dataclasses.dataclass(frozen=True)
class Sample(Search):
    """Draws tokens from the model's distribution, `n_best` times independently.

    The hypotheses are not sorted, so the first one is a fair sample. Scores are
    log-probabilities under the model, at temperature 1 and without truncation. With
    equal seeds, the same batch gets the same samples.

    Args:
        temperature: divides the logits; below 1, probable tokens get more probable.
        top_k: draw from the k most probable tokens only, and from those that are as
            probable as the last of them. None: all tokens.
        top_p: draw only from the most probable tokens that together reach this
            probability (nucleus), after `top_k`. None: all tokens.
        n_best: number of samples.
        seed: an integer; None: a new one for every call.
        **kwargs: of `Search`: min_length, forbidden_tokens, no_repeat_ngram.

    Example:
        >>> Sample(temperature=0.7, top_p=0.9, n_best=4, seed=1).n_best
        4

    References:
        Holtzman et al. 2020, arXiv:1904.09751 (nucleus).
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    n_best: int = 1
    seed: int | None = None

    def __post_init__(self):
        super().__post_init__()
        check_count("Sample", "n_best", self.n_best, 1)
        check_number("Sample", "temperature", self.temperature)
        if self.top_k is not None:
            check_count("Sample", "top_k", self.top_k, 1)
        if self.seed is not None:
            check_count("Sample", "seed", self.seed, 0)
        if self.top_p is not None:
            check_number("Sample", "top_p", self.top_p)
        if not self.temperature > 0:
            raise four_part_error(
                "Sample got an unusable temperature",
                "a number above 0",
                f"temperature={abbreviated(self.temperature)}",
                "For the most probable token use Greedy()",
            )
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise four_part_error(
                "Sample got an unusable top_p",
                "a probability in (0, 1]",
                f"top_p={abbreviated(self.top_p)}",
                "Use None for all tokens",
            )

    @property
    def beam(self):
        return None if self.n_best == 1 else self.n_best

    def choose(self, candidates, now, at):
        logits = candidates.logits / self.temperature
        if self.top_k is not None:
            logits = keep_top_k(logits, self.top_k)
        if self.top_p is not None:
            logits = keep_top_p(logits, self.top_p)
        seed = tf.stack([at.seed, at.t])
        uniform = tf.random.stateless_uniform(
            tf.shape(logits), seed, minval=1e-20, maxval=1.0
        )
        gumbel = -tf.math.log(-tf.math.log(uniform))
        tokens = tf.argmax(logits + gumbel, axis=-1, output_type=tf.int32)
        axes = len(tokens.shape)
        chosen = tf.gather(candidates.logits, tokens, batch_dims=axes)
        token_log_probs = chosen - candidates.log_sum[..., 0]
        return Choice(tokens, add_log_probs(now, token_log_probs), None)


def keep_top_k(logits, k):
    """Return the logits, -inf below the k-th largest."""
    values, _ = tf.math.top_k(logits, min(k, logits.shape[-1]))
    return tf.where(logits < values[..., -1:], NEG_INF, logits)


def keep_top_p(logits, p):
    """Return the logits, -inf outside of the smallest set with probability p."""
    ordered = tf.sort(logits, axis=-1, direction="DESCENDING")
    before = tf.cumsum(tf.nn.softmax(ordered), axis=-1, exclusive=True)
    kept = tf.where(before < p, ordered, float("inf"))
    return tf.where(
        logits < tf.reduce_min(kept, axis=-1, keepdims=True), NEG_INF, logits
    )
