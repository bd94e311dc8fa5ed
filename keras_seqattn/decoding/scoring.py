"""Scores of target sentences under a model."""

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding.checks import (
    as_special,
    as_tensor,
    check_source,
    check_tokens,
)
from keras_seqattn.decoding.compiled_functions import compiled
from keras_seqattn.decoding.model_checks import can_score, source_pad_of
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.types import Scored


@tf.autograph.experimental.do_not_convert
def score(model, source, target, tokens=None):
    """Return teacher-forced log-probabilities of targets, and their alignments.

    `score(model, source, decoded.tokens[:, 0]).scores` equals `decoded.scores[:, 0]`.
    Only where `decode` returns no hypothesis, just padding, the score is 0.

    Args:
        model: a `Seq2Seq` or `Ensemble`, i.e. callable on `{"source", "target"}` with
            `return_attention_scores=True`.
        source: int ids `[batch, source]`, or what else the model reads.
        target: int ids `[batch, target]`, padded, without the start token, usually
            with the end token.
        tokens: `SpecialTokens` of the target; None: `SpecialTokens()`.

    Returns:
        `Scored(scores, log_probs, alignments)`.

    Example:
        >>> cell = BahdanauCell(8, attention=BahdanauAttention(8))
        >>> model = Seq2Seq(
        ...     source_embedding=keras.layers.Embedding(20, 4),
        ...     encoder=BiEncoder(8),
        ...     decoder=AttentionDecoder(cell),
        ...     head=OutputHead(20),
        ... )
        >>> source, target = keras.ops.array([[5, 6, 2]]), keras.ops.array([[7, 2]])
        >>> score(model, source, target).log_probs.shape
        TensorShape([1, 2])
    """
    tokens = as_special("score", tokens)
    if isinstance(model, type) or not can_score(model):
        raise four_part_error(
            "score got an unusable model",
            "a Seq2Seq or an Ensemble of them",
            abbreviated(model),
            "Pass a model that can be called on whole sentences",
        )
    check_tokens("score", model, tokens)
    pad = source_pad_of(model, tokens.pad)
    if isinstance(source, dict):
        source = {name: as_tensor(x, pad) for name, x in source.items()}
    else:
        source = as_tensor(source, pad)
    first, target = tree.flatten(source)[0], as_tensor(target, tokens.pad)
    check_source("score", source)
    if len(target.shape) != 2 or 0 in target.shape:
        raise four_part_error(
            "score got an unusable target",
            "ids [batch, target] with at least one sentence and one token",
            f"shape {tuple(target.shape)}",
            "For the hypotheses of a beam pass one of them, e.g. decoded.tokens[:, 0]",
        )

    if None not in (first.shape[0], target.shape[0]) and (
        first.shape[0] != target.shape[0]
    ):
        raise four_part_error(
            "score got sources and targets of different batches",
            "a target for every source",
            f"shapes {tuple(first.shape)} and {tuple(target.shape)}",
            "Pass the same number of rows",
        )

    if tf.executing_eagerly() and hasattr(model, "check_ids"):
        model.check_ids(source, target)
    target = tf.cast(target, tf.int32)

    def run(model, source, target):
        return _score(model, source, target, tokens)

    if not tf.executing_eagerly():
        return run(model, source, target)
    return compiled(model, ("score", tokens), run)(source, target)


def _score(model, source, target, tokens):
    start = tf.fill([tf.shape(target)[0], 1], tokens.start)
    previous = target[:, :-1]
    previous = tf.where(previous == tokens.end, tokens.pad, previous)  # never an input
    sources = source if isinstance(source, dict) else {"source": source}
    inputs = {**sources, "target": tf.concat([start, previous], axis=1)}
    logits, alignments = model(inputs, return_attention_scores=True)
    log_probs = tf.nn.log_softmax(tf.cast(logits, tf.float32))
    real = target != tokens.pad
    log_probs = tf.gather(log_probs, target, batch_dims=2)
    log_probs = tf.where(real, log_probs, 0.0)
    real_rows = real[
        (slice(None), *[None] * (len(alignments.shape) - 3), slice(None), None)
    ]
    alignments = tf.where(real_rows, tf.cast(alignments, tf.float32), 0.0)
    return Scored(tf.reduce_sum(log_probs, axis=1), log_probs, alignments)
