"""The tokens that a search chooses from, with their log-probabilities."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.constraints import apply_rules, forbidden_bias, normalise

CHUNK = 64
LONGEST_CHUNK = 4 * CHUNK


class Candidates(NamedTuple):
    """The tokens that may come next in every hypothesis."""

    tokens: Any  # int32 [batch, (beam,) count], best first; None: the vocabulary
    logits: Any  # float32 [batch, (beam,) count], -inf for forbidden tokens
    log_sum: Any  # [batch, (beam,) 1], normalises the logits

    @property
    def log_probs(self):
        return self.logits - self.log_sum


def find_candidates(logits, count, now, t, rules):
    """Return the `Candidates` of a step.

    Args:
        logits: float32 `[batch, (beam,) vocabulary]` of the model; NaN is allowed.
        count: how many of the best; None: all tokens.
        now: `Hypotheses`.
        t: number of the step, from 0.
        rules: `TokenRules`.
    """
    if count is None:
        clean, log_sum = normalise(logits)
        return Candidates(None, apply_rules(clean, now, t, rules), log_sum)

    def apply_rules_first():
        clean, log_sum = normalise(logits)
        allowed = apply_rules(clean, now, t, rules)
        best, tokens = top_k(allowed, min(count, allowed.shape[-1]))
        return Candidates(tokens, best, log_sum)

    search, special, prefix = rules
    is_same_for_all = prefix is None and not search.no_repeat_ngram
    if not (is_same_for_all and chunks_pay(logits.shape[-1], count)):
        return apply_rules_first()
    # A forbidden token is hardly ever among the best, and NaN hardly ever occurs. So we
    # take the best tokens first and check them: this is cheaper than masking all
    # logits. Only if the check fails, the rules are applied to all logits.
    chunks, maxima = split_into_chunks(logits)
    best, tokens = top_k_of_chunks(chunks, maxima, count)
    log_sum = _log_sum(logits, best[..., :1], tokens[..., :1])
    bias = forbidden_bias(logits.shape[-1], t, search, special)
    is_allowed = tf.reduce_all(tf.gather(bias, tokens) == 0.0)
    is_finite = tf.reduce_all(maxima < float("inf"))  # False for NaN
    is_finite &= tf.reduce_all(tf.math.is_finite(log_sum))
    return tf.cond(
        is_finite & is_allowed,
        lambda: Candidates(tokens, best, log_sum),
        apply_rules_first,
    )


def _log_sum(logits, largest, token):
    """Return `x[i] - log(softmax(x)[i])` for the largest logit x[i].

    The largest probability is never so small that it is rounded to 0. The softmax is
    one operation, cheaper than a sum of exponentials.
    """
    softmax = tf.nn.softmax(logits)
    axes = len(token.shape) - 1
    return largest - tf.math.log(tf.gather(softmax, token, batch_dims=axes))


def top_k(x, k):
    """Return the values and indices of `tf.math.top_k(x, k)`, ties included.

    Args:
        x: `[..., size]`, with a static size.
        k: Python int, at most the size.

    Returns:
        values and indices, `[..., k]`, the largest first.
    """
    if not chunks_pay(x.shape[-1], k):
        return tf.math.top_k(x, k)
    return top_k_of_chunks(*split_into_chunks(x), k)


def chunks_pay(size, k):
    """Whether there are so many chunks that only few of them have to be searched."""
    return size >= 4 * k * CHUNK


def split_into_chunks(x):
    """Return `x` as `[..., chunks, length]`, and the maximum of each chunk."""
    size = x.shape[-1]
    # A length without a remainder avoids the padding, which is a pass over all of `x`.
    lengths = (n for n in range(CHUNK, LONGEST_CHUNK + 1) if size % n == 0)
    length = next(lengths, CHUNK)
    if size % length:
        paddings = [[0, 0]] * (len(x.shape) - 1) + [[0, -size % length]]
        x = tf.pad(x, paddings, constant_values=-float("inf"))
    shape = [*tf.unstack(tf.shape(x)[:-1]), x.shape[-1] // length, length]
    x = tf.reshape(x, shape)
    return x, tf.reduce_max(x, axis=-1)


def top_k_of_chunks(x, maxima, k):
    """Return `top_k` of the array that `split_into_chunks` split.

    Each of the k largest elements lies in one of the k chunks with the largest maxima
    (with ties, the first of these), so only these chunks are searched. On two cores,
    `[320, 8000]` and k = 5 take a quarter of the time.
    """
    length, axes = x.shape[-1], len(x.shape) - 2
    _, best = tf.math.top_k(maxima, k)
    if k > 1:
        best = tf.sort(best, axis=-1)  # so that the lower index wins a tie
    chunks = tf.gather(x, best, batch_dims=axes)
    shape = tf.concat([tf.shape(best)[:-1], [k * length]], axis=0)
    values, index = tf.math.top_k(tf.reshape(chunks, shape), k)
    chunk = tf.gather(best, index // length, batch_dims=axes)
    return values, chunk * length + index % length
