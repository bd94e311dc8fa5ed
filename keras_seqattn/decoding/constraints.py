"""What may not be chosen: where a logit is -inf, whatever the model says."""

import numpy as np
import tensorflow as tf

NEVER = -float("inf")
ORDINARY = 60.0  # exponentials of so much neither overflow nor lose digits


def normalise(logits):
    """The logits and the logarithm of their sum of exponentials, `[..., 1]`.

    NaN and infinite logits are never chosen: they count as probability zero. A row with
    nothing else has no hypothesis to go on with.
    """
    # Ordinary logits need no shift by their maximum, which is a pass over all of them.
    log_sum = tf.math.log(tf.reduce_sum(tf.exp(logits), axis=-1, keepdims=True))
    ordinary = tf.reduce_all(tf.abs(log_sum) < ORDINARY)  # NaN is not
    return tf.cond(ordinary, lambda: (logits, log_sum), lambda: _carefully(logits))


def _carefully(logits):
    usable = tf.math.is_finite(logits)
    some = tf.reduce_any(usable, axis=-1, keepdims=True)
    # A row of zeros has a finite sum; nothing of it is chosen.
    clean = tf.where(usable, logits, NEVER)
    log_sum = tf.reduce_logsumexp(tf.where(some, clean, 0.0), axis=-1, keepdims=True)
    return clean, log_sum


def allowed(logits, now, t, search, tokens, prefix):
    """The logits, -inf where the search may not choose.

    Args:
        logits: float32 `[batch, (beam,) vocabulary]`.
        now: `Hypotheses`.
        t: number of the step, from 0.
        search: `Search`.
        tokens: `SpecialTokens`.
        prefix: int32 `[batch, target]`, forced tokens, padded; or None.
    """
    free = logits + barred(logits.shape[-1], t, search, tokens)
    if search.no_repeat_ngram:
        free = bar_ngrams(free, now.history, t, search.no_repeat_ngram)
    return free if prefix is None else force(free, logits, prefix, t, tokens.pad)


def barred(vocabulary, t, search, tokens):
    """float32 `[vocabulary]`: -inf for what no hypothesis may choose at this step."""
    never = {tokens.pad, tokens.start, *search.forbidden_tokens} - {tokens.end}
    bars = np.zeros(vocabulary, "float32")
    bars[[token for token in never if 0 <= token < vocabulary]] = NEVER
    if not search.min_length:
        return tf.constant(bars)
    early = bars.copy()
    early[tokens.end] = NEVER
    return tf.where(t + 1 < search.min_length, early, bars)


def bar_ngrams(logits, history, t, n):
    """Bars the tokens that would repeat an n-gram of their hypothesis.

    Args:
        logits: `[batch, (beam,) vocabulary]`.
        history: int32 `[batch, (beam,) target]`, the tokens so far, any after `t`.
        t: how many there are.
        n: Python int.
    """
    positions = tf.range(tf.shape(history)[-1])
    repeated = (positions >= n - 1) & (positions < t)  # could end an n-gram
    for back in range(1, n):  # and its n - 1 tokens before are the last ones
        last = tf.gather(history, tf.maximum(t - back, 0), axis=-1)[..., None]
        repeated &= tf.roll(history, back, axis=-1) == last
    bars = tf.where(tf.broadcast_to(repeated, tf.shape(history)), NEVER, float("inf"))
    rows = tf.reshape(logits, [-1, logits.shape[-1]])
    targets = tf.reshape(history, [tf.shape(rows)[0], -1])
    which = tf.range(tf.shape(rows)[0])[:, None] + tf.zeros_like(targets)
    rows = tf.tensor_scatter_nd_min(
        rows, tf.stack([which, targets], axis=-1), tf.reshape(bars, tf.shape(targets))
    )
    return tf.reshape(rows, tf.shape(logits))


def force(free, logits, prefix, t, pad):
    """The logits, where the prefix has a token at this step of that one alone."""
    steps = tf.shape(prefix)[1]
    token = tf.gather(prefix, tf.minimum(t, steps - 1), axis=1)
    inside = (token != pad) & (t < steps)
    only = tf.where(token[:, None] == tf.range(logits.shape[-1]), 0.0, NEVER)
    if len(logits.shape) == 3:
        only, inside = only[:, None], inside[:, None]
    return tf.where(inside[..., None], logits + only, free)
