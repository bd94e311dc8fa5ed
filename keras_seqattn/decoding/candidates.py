"""The tokens that a search chooses from, and how probable they are."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.constraints import allowed, barred, normalise
from keras_seqattn.decoding.top_k import chunked, pays, top_k, top_k_of_chunks


class Candidates(NamedTuple):
    """What every hypothesis may go on with."""

    tokens: Any  # int32 [batch, (beam,) count], best first; None: the vocabulary
    logits: Any  # float32 [batch, (beam,) count], -inf where barred
    log_sum: Any  # [batch, (beam,) 1], normalises the logits

    @property
    def log_probs(self):
        return self.logits - self.log_sum


def candidates(logits, count, now, t, *rules):
    """`Candidates` of logits as they come from a model, NaN and all.

    Args:
        logits: float32 `[batch, (beam,) vocabulary]`.
        count: how many of the best; None: all tokens.
        now: `Hypotheses`.
        t: number of the step, from 0.
        *rules: search, tokens and prefix, see `allowed`.
    """
    if count is None:
        logits, log_sum = normalise(logits)
        return Candidates(None, allowed(logits, now, t, *rules), log_sum)

    def careful():
        clean, log_sum = normalise(logits)
        free = allowed(clean, now, t, *rules)
        found, tokens = top_k(free, min(count, free.shape[-1]))
        return Candidates(tokens, found, log_sum)

    search, special, prefix = rules
    same_for_all = prefix is None and not search.no_repeat_ngram
    if not (same_for_all and pays(logits.shape[-1], count)):
        return careful()
    # What is barred is hardly ever among the best, nor is NaN in the logits: it is
    # cheaper to look whether they are than to keep them out, in passes over all tokens.
    pieces, maxima = chunked(logits)
    found, tokens = top_k_of_chunks(pieces, maxima, count)
    log_sum = _log_sum(logits, found[..., :1], tokens[..., :1])
    bars = tf.gather(barred(logits.shape[-1], t, search, special), tokens)
    clean = tf.reduce_all(maxima < float("inf"))  # NaN is not
    clean &= tf.reduce_all(tf.math.is_finite(log_sum)) & tf.reduce_all(bars == 0.0)
    return tf.cond(clean, lambda: Candidates(tokens, found, log_sum), careful)


def _log_sum(logits, largest, token):
    """`x[i] - log(softmax(x)[i])` for the largest: its probability is no rounding.

    The softmax is one operation, cheaper than a sum of exponentials.
    """
    softmax = tf.nn.softmax(logits)
    return largest - tf.math.log(tf.gather(softmax, token, batch_dims=_axes(token)))


def _axes(x):
    return len(x.shape) - 1
