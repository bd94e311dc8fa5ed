"""The empty translation: the end token alone, with score 0."""

import tensorflow as tf

from keras_seqattn.decoding.constraints import NEG_INF


def with_empty_translations(decoded, is_blank, source_lengths, tokens):
    """Return the `Decoded`, with the empty translation of each blank source.

    Training has no blank sources, so what a model says of them is chance. Instead the
    only hypothesis is the end token, which attends to the end token of the source. The
    rows of other sources stay the same, bit for bit.

    Args:
        decoded: `Decoded`.
        is_blank: bool `[batch]`.
        source_lengths: int `[batch]`, the end token included.
        tokens: `SpecialTokens`.

    Returns:
        `Decoded`.
    """
    if tf.executing_eagerly() and not tf.reduce_any(is_blank):
        return decoded  # which is faster
    if decoded.tokens.shape[2] == 0:  # no source has a hypothesis
        decoded = _with_one_position(decoded, tokens.pad)
    is_best = tf.range(decoded.tokens.shape[1]) == 0
    is_first = tf.range(tf.shape(decoded.tokens)[2]) == 0
    is_end = is_best[:, None] & is_first  # [n_best, target]
    rows = is_blank[:, None]
    lengths = tf.where(rows, tf.cast(is_best, tf.int32), decoded.lengths)
    score = tf.where(lengths > 0, 0.0, NEG_INF)
    return decoded._replace(
        tokens=tf.where(
            rows[..., None], tf.where(is_end, tokens.end, tokens.pad), decoded.tokens
        ),
        lengths=lengths,
        scores=tf.where(rows, score, decoded.scores),
        ranking=tf.where(rows, score, decoded.ranking),
        alignments=_alignments(decoded.alignments, is_blank, source_lengths, is_end),
    )


def _alignments(alignments, is_blank, source_lengths, is_end):
    """Replace alignments `[batch, n_best, (heads,) target, source]`."""
    last = tf.one_hot(source_lengths - 1, tf.shape(alignments)[-1])
    ends = tf.cast(is_end, tf.float32)[..., None] * last[:, None, None]
    if len(alignments.shape) == 5:
        ends = ends[:, :, None]
    rows = tf.reshape(is_blank, [-1, *[1] * (len(alignments.shape) - 1)])
    return tf.where(rows, ends, alignments)


def _with_one_position(decoded, pad):
    """Return a `Decoded` without target positions, with one of padding."""
    heads = [[0, 0]] * (len(decoded.alignments.shape) - 4)
    room = [[0, 0], [0, 0], *heads, [0, 1], [0, 0]]
    return decoded._replace(
        tokens=tf.pad(decoded.tokens, [[0, 0], [0, 0], [0, 1]], constant_values=pad),
        alignments=tf.pad(decoded.alignments, room),
    )
