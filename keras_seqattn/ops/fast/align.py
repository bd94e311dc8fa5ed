"""Alignments whose gradients are written by hand: see `ops.fast.cell`."""

import tensorflow as tf

from keras_seqattn.ops.align import LOWEST
from keras_seqattn.ops.loop_ops import Fused, fused
from keras_seqattn.ops.mask import per_score
from keras_seqattn.ops.precision import at_least_float32


def masked_softmax(scores, mask=None):
    """See `ops.align.masked_softmax`."""
    scores = at_least_float32(scores)
    if mask is None:
        return fused(_SOFTMAX, scores)
    return fused(_SOFTMAX, scores, per_score(mask, scores))


def _softmax(scores, mask=None):
    if mask is not None:
        scores = tf.where(mask, scores, LOWEST)
    alignment = tf.nn.softmax(scores)
    if mask is not None:
        alignment = tf.where(mask, alignment, 0.0)  # rows without anything real
    return alignment, (alignment,)


def _gradient(tensors, kept, dx):
    """The gradient of the scores; it is 0 where the alignment is 0."""
    [alignment] = kept
    product = alignment * dx
    total = tf.reduce_sum(product, axis=-1, keepdims=True)
    return product - alignment * total, *(None for _ in tensors[1:])


_SOFTMAX = Fused(_softmax, _gradient)
