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

    def choose(self, allowed, log_sum, now, at):
        tokens = tf.argmax(allowed, axis=-1, output_type=tf.int32)
        return Choice(tokens, continued(now, allowed, log_sum, tokens), None)


def continued(now, allowed, log_sum, tokens):
    """Log-probabilities with one token more, unless the hypothesis is finished."""
    rank = len(tokens.shape)
    logits = tf.gather(allowed, tokens, batch_dims=rank)
    return now.log_probs + tf.where(now.finished, 0.0, logits - log_sum[..., 0])
