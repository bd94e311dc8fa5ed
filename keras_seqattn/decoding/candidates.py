"""The candidates of a step: the most probable tokens that a hypothesis may choose.

The rules of a search, such as `min_length`, forbid some tokens: their logits become
-inf.
"""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

NEG_INF = -float("inf")
SAFE_LOG_SUM = 60.0  # exp of numbers up to this neither overflows nor loses digits
CHUNK = 64
LONGEST_CHUNK = 4 * CHUNK


class TokenRules(NamedTuple):
    """What decides which tokens a hypothesis may choose."""

    search: Any  # `Search`: min_length, forbidden_tokens, no_repeat_ngram
    special: Any  # `SpecialTokens`
    prefix: Any  # int32 [batch, target], forced tokens, padded; None: none are forced


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


def normalise(logits):
    """Return the logits and the logarithm of their sum of exponentials, `[..., 1]`.

    NaN and infinite logits become -inf: they are never chosen and count as probability
    zero. In a row without a finite logit no token can be chosen.
    """
    # Ordinary logits need no shift by their maximum, which would be one more pass over
    # all of them.
    log_sum = tf.math.log(tf.reduce_sum(tf.exp(logits), axis=-1, keepdims=True))
    is_safe = tf.reduce_all(tf.abs(log_sum) < SAFE_LOG_SUM)  # False for NaN
    return tf.cond(is_safe, lambda: (logits, log_sum), lambda: _normalise_any(logits))


def _normalise_any(logits):
    """`normalise` for logits of any size, NaN and infinite ones included."""
    is_finite = tf.math.is_finite(logits)
    has_finite = tf.reduce_any(is_finite, axis=-1, keepdims=True)
    clean = tf.where(is_finite, logits, NEG_INF)
    # A row of zeros in place of a row of -inf has a finite sum.
    summed = tf.where(has_finite, clean, 0.0)
    return clean, tf.reduce_logsumexp(summed, axis=-1, keepdims=True)


# Rules --------------------------------------------------------------------------------


def apply_rules(logits, now, t, rules):
    """Return the logits, -inf where a hypothesis may not choose.

    Args:
        logits: float32 `[batch, (beam,) vocabulary]`.
        now: `Hypotheses`.
        t: number of the step, from 0.
        rules: `TokenRules`.
    """
    search, special, prefix = rules
    allowed = logits + forbidden_bias(logits.shape[-1], t, search, special)
    if search.no_repeat_ngram:
        allowed = forbid_repeated_ngrams(
            allowed, now.history, t, search.no_repeat_ngram
        )
    if prefix is not None:
        allowed = force_prefix(allowed, logits, prefix, t, special.pad)
    return allowed


def forbidden_bias(vocabulary, t, search, special):
    """Return float32 `[vocabulary]`: -inf for tokens forbidden at step `t`, else 0.

    These are the tokens that are forbidden for all hypotheses alike.
    """
    forbidden = {special.pad, special.start, *search.forbidden_tokens} - {special.end}
    bias = np.zeros(vocabulary, "float32")
    bias[[token for token in forbidden if 0 <= token < vocabulary]] = NEG_INF
    if not search.min_length:
        return tf.constant(bias)
    early_bias = bias.copy()
    early_bias[special.end] = NEG_INF
    return tf.where(t + 1 < search.min_length, early_bias, bias)


def forbid_repeated_ngrams(logits, history, t, n):
    """Return the logits, -inf for tokens that would repeat an n-gram.

    Args:
        logits: `[batch, (beam,) vocabulary]`.
        history: int32 `[batch, (beam,) target]`, the tokens of each hypothesis; those
            from position `t` on are not read.
        t: number of tokens so far.
        n: Python int.
    """
    # A position ends a repeated n-gram if the n - 1 tokens before it are the last ones.
    positions = tf.range(tf.shape(history)[-1])
    is_repeated = (positions >= n - 1) & (positions < t)
    for back in range(1, n):
        last = tf.gather(history, tf.maximum(t - back, 0), axis=-1)[..., None]
        is_repeated &= tf.roll(history, back, axis=-1) == last
    is_repeated = tf.broadcast_to(is_repeated, tf.shape(history))
    bounds = tf.where(is_repeated, NEG_INF, float("inf"))
    rows = tf.reshape(logits, [-1, logits.shape[-1]])
    tokens = tf.reshape(history, [tf.shape(rows)[0], -1])
    row_numbers = tf.range(tf.shape(rows)[0])[:, None] + tf.zeros_like(tokens)
    rows = tf.tensor_scatter_nd_min(
        rows,
        tf.stack([row_numbers, tokens], axis=-1),
        tf.reshape(bounds, tf.shape(tokens)),
    )
    return tf.reshape(rows, tf.shape(logits))


def force_prefix(allowed, logits, prefix, t, pad):
    """Return `allowed`; in rows whose prefix has a token at step `t`, only its logit.

    Args:
        allowed: the logits after all other rules.
        logits: the logits before them: a forced token may be a forbidden one.
        prefix: int32 `[batch, target]`, padded.
        t: number of the step, from 0.
        pad: id of the padding.
    """
    steps = tf.shape(prefix)[1]
    token = tf.gather(prefix, tf.minimum(t, steps - 1), axis=1)
    is_forced = (token != pad) & (t < steps)
    bias = tf.where(token[:, None] == tf.range(logits.shape[-1]), 0.0, NEG_INF)
    if len(logits.shape) == 3:
        bias, is_forced = bias[:, None], is_forced[:, None]
    return tf.where(is_forced[..., None], logits + bias, allowed)


# The largest of many numbers ----------------------------------------------------------


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
