"""What a search carries from step to step."""

from typing import Any, NamedTuple

import tensorflow as tf


class Hypotheses(NamedTuple):
    """The hypotheses of each sentence, `[batch]` or `[batch, beam]`.

    One without a finite log-probability is no hypothesis, but an empty place.
    """

    tokens: Any  # int32, the last ones
    log_probs: Any  # float32, summed
    lengths: Any  # int32, the end token counts
    finished: Any  # bool
    coverage: Any  # float32 [batch, beam, source], or () where nobody asks
    history: Any  # int32 [batch, (beam,) target], or () where nobody asks


class Choice(NamedTuple):
    """What a search chose at one step."""

    tokens: Any  # int32, the shape of `Hypotheses.tokens`
    log_probs: Any  # float32, of the hypotheses that they continue
    parents: Any  # int32 [batch, beam], which ones these are; None: each itself


def follow(x, parents):
    """`x` `[batch, beam, ...]` of the parents `[batch, beam]`."""
    return x if parents is None else tf.gather(x, parents, batch_dims=1)


def asked(x):
    """Whether a part of the hypotheses is kept at all."""
    return not isinstance(x, tuple)


def advance(now, choice, t, limits, tokens):
    """The hypotheses after a choice. A finished one stays as it is.

    Args:
        now: `Hypotheses` before.
        choice: `Choice`.
        t: number of the step, from 0.
        limits: int32 `[batch]`, the greatest length of each sentence's hypotheses.
        tokens: `SpecialTokens`.
    """
    lengths = follow(now.lengths, choice.parents)
    finished = follow(now.finished, choice.parents)
    coverage, history = now.coverage, now.history
    if asked(coverage):
        coverage = follow(coverage, choice.parents)
    alive = choice.log_probs > -float("inf")
    chosen = tf.where(finished, tokens.pad, choice.tokens)
    lengths = tf.where(alive, lengths + tf.cast(~finished, tf.int32), 0)
    if len(lengths.shape) == 2:
        limits = limits[:, None]
    ended = (chosen == tokens.end) | (lengths >= limits) | ~alive
    if asked(history):
        here = tf.range(tf.shape(history)[-1]) == t
        history = follow(history, choice.parents)
        history = tf.where(here, chosen[..., None], history)
    return Hypotheses(
        chosen, choice.log_probs, lengths, finished | ended, coverage, history
    )
