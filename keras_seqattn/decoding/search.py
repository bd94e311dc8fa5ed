"""What the searches share: what they may not choose, and how they begin."""

import dataclasses

import keras
import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.hypotheses import Hypotheses
from keras_seqattn.errors import four_part_error


@dataclasses.dataclass(frozen=True, kw_only=True)
class Search:
    """Base of the searches: values, no weights; two that are equal search alike.

    A search of your own defines `choose(candidates, now, at)`, which returns a
    `Choice(tokens, log_probs, parents)`: `candidates` are the `Candidates`, `best_of`
    of them or all, `now` the `Hypotheses`, `at` has the step `t`, the `mask` of the
    memory and a `seed`. And `beam`, `n_best`, `first`, `rank` and `done`, where they
    differ.

    Args:
        min_length: least number of tokens, the end token and a prefix included.
        forbidden_tokens: ids that are never chosen; padding and start never are anyway.
        no_repeat_ngram: n-grams of this size occur at most once in a hypothesis;
            0: no such rule.
    """

    min_length: int = 0
    forbidden_tokens: tuple = ()
    no_repeat_ngram: int = 0

    # Not options of every search, so not fields here.
    beam = None  # how many hypotheses a sentence has; None: one, without an axis for it
    best_of = None  # how many of the most probable tokens it wants; None: all tokens
    n_best = 1
    coverage_penalty = 0.0
    seed = None

    def __post_init__(self):
        owner = type(self).__name__
        if not isinstance(self.forbidden_tokens, (list, tuple)):
            raise four_part_error(
                f"{owner} got unusable forbidden_tokens",
                "a tuple of ids",
                repr(self.forbidden_tokens),
                "Pass e.g. (3,) for one",
            )
        object.__setattr__(self, "forbidden_tokens", tuple(self.forbidden_tokens))
        check_count(owner, "min_length", self.min_length, 0)
        check_count(owner, "no_repeat_ngram", self.no_repeat_ngram, 0)
        for token in self.forbidden_tokens:
            check_count(owner, "forbidden_tokens", token, 0)

    def first(self, batch):
        """Log-probabilities before the first step, `[batch]` or `[batch, beam]`."""
        shape = [batch] if self.beam is None else [batch, self.beam]
        return tf.zeros(shape)

    def rank(self, now, mask):
        """The value that sorts, the shape of `now.log_probs`."""
        return now.log_probs

    def done(self, now, limits, mask):
        """Sentences whose result is certain, bool `[batch]`."""
        return now.finished if self.beam is None else tf.reduce_all(now.finished, 1)

    def get_config(self):
        config = dataclasses.asdict(self)
        return {**config, "forbidden_tokens": list(self.forbidden_tokens)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def begin(search, batch, source_size, max_length, tokens):
    """`Hypotheses` before the first step: empty, the start token was the last."""
    log_probs = search.first(batch)
    like = tf.zeros_like(log_probs, tf.int32)
    history = coverage = ()
    if search.no_repeat_ngram:
        history = tf.zeros(tf.concat([tf.shape(like), [max_length]], 0), tf.int32)
        history = tf.ensure_shape(history, (*like.shape, None))
    if search.coverage_penalty:
        coverage = tf.zeros(tf.concat([tf.shape(like), [source_size]], 0))
    return Hypotheses(
        tokens=like + tokens.start,
        log_probs=log_probs,
        lengths=like,
        finished=log_probs == -float("inf"),
        coverage=coverage,
        history=history,
    )


register = keras.saving.register_keras_serializable(package="keras_seqattn")
