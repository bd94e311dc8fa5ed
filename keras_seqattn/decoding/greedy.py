"""Greedy search: the most probable token at every step."""

import dataclasses

import tensorflow as tf

from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.search import Search, register


@register
@dataclasses.dataclass(frozen=True)
class Greedy(Search):
    """Greedy search: the most probable token at every step.

    Among equally probable tokens it chooses the one with the lowest id.

    Args:
        **kwargs: of `Search`: min_length, forbidden_tokens, no_repeat_ngram.

    Example:
        >>> Greedy(min_length=2)
        Greedy(min_length=2, forbidden_tokens=(), no_repeat_ngram=0)
    """

    best_of = 1

    def choose(self, candidates, now, at):
        log_probs = add_log_probs(now, candidates.log_probs[..., 0])
        return Choice(candidates.tokens[..., 0], log_probs, None)


def add_log_probs(now, token_log_probs):
    """Return the sums of open hypotheses with one token more; finished ones stay."""
    return now.log_probs + tf.where(now.finished, 0.0, token_log_probs)
