"""The hypotheses of a search, and how one step changes them."""

from typing import Any, NamedTuple

import tensorflow as tf


class Hypotheses(NamedTuple):
    """The hypotheses of each sentence, `[batch]` or `[batch, beam]`.

    A place whose log-probability is -inf is empty: it holds no hypothesis. Coverage and
    history are tracked only for searches that need them.
    """

    tokens: Any  # int32, the last token of each
    log_probs: Any  # float32, summed over the tokens
    lengths: Any  # int32, the end token counts
    finished: Any  # bool
    coverage: Any  # float32 [batch, beam, source]; (): not tracked
    history: Any  # int32 [batch, (beam,) target]; (): not tracked


class Choice(NamedTuple):
    """The tokens that a search chose at one step."""

    tokens: Any  # int32, the shape of `Hypotheses.tokens`
    log_probs: Any  # float32, of the hypotheses with these tokens at their end
    parents: Any  # int32 [batch, beam], the hypotheses they continue; None: each itself


class StepInfo(NamedTuple):
    """What `Search.choose` learns about the step besides candidates and hypotheses."""

    t: Any  # number of the step, from 0
    mask: Any  # of the memory, [batch, source]
    seed: Any  # int32 scalar, one for all steps, for searches that draw


def initial_hypotheses(search, batch, source_size, max_length, special):
    """Return empty `Hypotheses`, with the start token as the last token."""
    log_probs = search.first(batch)
    zeros = tf.zeros_like(log_probs, tf.int32)
    history = coverage = ()
    if search.no_repeat_ngram:
        history = tf.zeros(tf.concat([tf.shape(zeros), [max_length]], 0), tf.int32)
        history = tf.ensure_shape(history, (*zeros.shape, None))
    if search.coverage_penalty:
        coverage = tf.zeros(tf.concat([tf.shape(zeros), [source_size]], 0))
    return Hypotheses(
        tokens=zeros + special.start,
        log_probs=log_probs,
        lengths=zeros,
        finished=log_probs == -float("inf"),
        coverage=coverage,
        history=history,
    )


def is_tracked(x):
    """Whether a search tracks this part of its records; `()` stands for no."""
    return not isinstance(x, tuple)


def gather_parents(x, parents):
    """Return the rows of `x` `[batch, beam, ...]` that belong to the parents.

    Args:
        x: a tensor with one row for each hypothesis before the step.
        parents: int32 `[batch, beam]`; None: `x` is returned as it is.
    """
    return x if parents is None else tf.gather(x, parents, batch_dims=1)


def advance(now, choice, t, limits, special):
    """Return the hypotheses after a choice. Finished hypotheses do not change.

    Args:
        now: `Hypotheses` before the step.
        choice: `Choice`.
        t: number of the step, from 0.
        limits: int32 `[batch]`, the greatest length of each sentence's hypotheses.
        special: `SpecialTokens`.
    """
    lengths = gather_parents(now.lengths, choice.parents)
    finished = gather_parents(now.finished, choice.parents)
    coverage, history = now.coverage, now.history
    if is_tracked(coverage):
        coverage = gather_parents(coverage, choice.parents)
    exists = choice.log_probs > -float("inf")
    tokens = tf.where(finished, special.pad, choice.tokens)
    lengths = tf.where(exists, lengths + tf.cast(~finished, tf.int32), 0)
    if len(lengths.shape) == 2:
        limits = limits[:, None]
    ended = (tokens == special.end) | (lengths >= limits) | ~exists
    if is_tracked(history):
        is_position = tf.range(tf.shape(history)[-1]) == t
        history = gather_parents(history, choice.parents)
        history = tf.where(is_position, tokens[..., None], history)
    return Hypotheses(
        tokens=tokens,
        log_probs=choice.log_probs,
        lengths=lengths,
        finished=finished | ended,
        coverage=coverage,
        history=history,
    )


def add_coverage(now, alignment):
    """Return `now` with this step's alignment in the coverage of open hypotheses."""
    alignment = tf.cast(alignment, tf.float32)
    for _ in range(len(alignment.shape) - len(now.coverage.shape)):
        alignment = tf.reduce_mean(alignment, axis=-2)  # over heads
    added = tf.where(now.finished[..., None], 0.0, alignment)
    return now._replace(coverage=now.coverage + added)
