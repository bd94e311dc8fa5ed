"""The base class of the searches."""

import dataclasses

import keras
import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.errors import abbreviated, four_part_error


@dataclasses.dataclass(frozen=True, kw_only=True)
class Search:
    """Base class of the searches: options without weights, compared by value.

    A search of your own defines `choose(candidates, now, at)`, which returns a
    `Choice(tokens, log_probs, parents)`. `candidates` are the `Candidates` (the best
    `best_of` tokens, or all), `now` are the `Hypotheses`, and `at` is a `StepInfo`: the
    step `t`, the `mask` of the memory and a `seed`. Override `beam`, `n_best`, `first`,
    `rank` and `done` where your search differs.

    Args:
        min_length: least number of tokens, the end token and a prefix included.
        forbidden_tokens: ids that are never chosen. Padding and start token are never
            chosen anyway.
        no_repeat_ngram: n-grams of this size occur at most once in a hypothesis.
            0: no such rule.
    """

    min_length: int = 0
    forbidden_tokens: tuple = ()
    no_repeat_ngram: int = 0

    # Class attributes: not every search has them as options.
    beam = None  # number of hypotheses of a sentence; None: one, without an axis for it
    best_of = None  # number of candidates that `choose` needs; None: all tokens
    n_best = 1
    coverage_penalty = 0.0
    seed = None

    def __post_init__(self):
        owner = type(self).__name__
        if not isinstance(self.forbidden_tokens, (list, tuple)):
            raise four_part_error(
                f"{owner} got unusable forbidden_tokens",
                "a tuple of ids",
                abbreviated(self.forbidden_tokens),
                "Pass e.g. (3,) for one id",
            )
        object.__setattr__(self, "forbidden_tokens", tuple(self.forbidden_tokens))
        check_count(owner, "min_length", self.min_length, 0)
        check_count(owner, "no_repeat_ngram", self.no_repeat_ngram, 0)
        for token in self.forbidden_tokens:
            check_count(owner, "forbidden_tokens", token, 0)

    def first(self, batch):
        """Return the log-probabilities before step 0, `[batch]` or `[batch, beam]`."""
        shape = [batch] if self.beam is None else [batch, self.beam]
        return tf.zeros(shape)

    def rank(self, now, mask):
        """Return the value that sorts hypotheses, the shape of `now.log_probs`."""
        return now.log_probs

    def done(self, now, limits, mask):
        """Return whether the result of each sentence is final, bool `[batch]`."""
        return now.finished if self.beam is None else tf.reduce_all(now.finished, 1)

    def get_config(self):
        config = dataclasses.asdict(self)
        return {**config, "forbidden_tokens": list(self.forbidden_tokens)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


register = keras.saving.register_keras_serializable(package="keras_seqattn")
