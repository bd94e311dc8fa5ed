"""The tokens that a search may not choose: their logits become -inf."""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

NEG_INF = -float("inf")
SAFE_LOG_SUM = 60.0  # exp of numbers up to this neither overflows nor loses digits


class TokenRules(NamedTuple):
    """What decides which tokens a hypothesis may choose."""

    search: Any  # `Search`: min_length, forbidden_tokens, no_repeat_ngram
    special: Any  # `SpecialTokens`
    prefix: Any  # int32 [batch, target], forced tokens, padded; None: none are forced


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
