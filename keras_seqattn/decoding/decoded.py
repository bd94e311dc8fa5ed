"""The result of a search, from the records of its steps; that of a blank source."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.candidates import NEG_INF
from keras_seqattn.decoding.hypotheses import is_tracked
from keras_seqattn.types import Decoded


class StepRecord(NamedTuple):
    """What the loop writes down at every step."""

    tokens: Any  # int32 [batch, (beam)], the chosen tokens
    alignment: Any  # [batch, (beam,) (heads,) source]
    parents: Any  # int32 [batch, beam]; (): each hypothesis is its own parent


def build_decoded(search, now, mask, steps, pad, records):
    """Return the `Decoded` of a search that has ended.

    Args:
        search: `Search`.
        now: `Hypotheses` after the last step.
        mask: of the memory, `[batch, source]` or None.
        steps: number of steps that were taken.
        pad: id of the padding.
        records: `StepRecord` of all steps, with the time as first axis.
    """
    tokens, alignments = records.tokens, records.alignment
    values = [now.lengths, now.log_probs, search.rank(now, mask)]
    if search.beam is None:
        values = [x[:, None] for x in values]
        tokens, alignments = tokens[:, :, None], alignments[:, :, None]
    lengths, scores, ranking = [x[:, : search.n_best] for x in values]
    if is_tracked(records.parents):
        places = trace_back(records.parents, steps, search.n_best)
        tokens = tf.gather(tokens, places[1:], batch_dims=2)
        alignments = tf.gather(alignments, places[:-1], batch_dims=2)
    rank = len(alignments.shape)
    alignments = tf.transpose(alignments, [1, 2, *range(3, rank - 1), 0, rank - 1])
    real = tf.range(tf.shape(tokens)[0]) < lengths[..., None]
    real_rows = real[(..., *[None] * (rank - 4), slice(None), None)]
    return Decoded(
        tokens=tf.where(real, tf.transpose(tokens, [1, 2, 0]), pad),
        lengths=lengths,
        scores=scores,
        ranking=tf.where(lengths > 0, ranking, -float("inf")),
        alignments=tf.where(real_rows, tf.cast(alignments, tf.float32), 0.0),
    )


def trace_back(parents, steps, count):
    """Return the places of the first `count` hypotheses at every step.

    Args:
        parents: int32 `[target, batch, beam]`: for the hypothesis in each place, the
            place of its parent one step before.
        steps: number of steps that were taken; later parents are not read.
        count: Python int.

    Returns:
        int32 `[target + 1, batch, count]`: entry t is the place before step t. So the
        token that was chosen at step t is in place t + 1, its alignment in place t.
        Zeros after `steps`.
    """
    size = tf.shape(parents)[0]
    last = tf.range(count)[None] + tf.zeros_like(parents[0, :, :1])
    places = tf.TensorArray(tf.int32, size + 1, element_shape=last.shape)

    def one_step_back(t, place, places):
        place = tf.gather(parents[t], place, batch_dims=1)
        return t - 1, place, places.write(t, place)

    _, _, places = tf.while_loop(
        lambda t, *_: t >= 0,
        one_step_back,
        (steps - 1, last, places.write(steps, last)),
        maximum_iterations=size,
    )
    return places.stack()


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
