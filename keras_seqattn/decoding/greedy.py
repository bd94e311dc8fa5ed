"""Always the most probable token."""

import dataclasses

import tensorflow as tf

from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.search import Search, register


@register
@dataclasses.dataclass(frozen=True)
class Greedy(Search):
    """Chooses the most probable token at every step; the lower id among equals.

    Args:
        **kwargs: of `Search`: min_length, forbidden_tokens, no_repeat_ngram.

    Example:
        >>> Greedy(min_length=2)
        Greedy(min_length=2, forbidden_tokens=(), no_repeat_ngram=0)
    """

    best_of = 1

    def choose(self, candidates, now, at):
        log_probs = continued(now, candidates.log_probs[..., 0])
        return Choice(candidates.tokens[..., 0], log_probs, None)


def continued(now, gained):
    """Log-probabilities with one token more, unless the hypothesis is finished."""
    return now.log_probs + tf.where(now.finished, 0.0, gained)
