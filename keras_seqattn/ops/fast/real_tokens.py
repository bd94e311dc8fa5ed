"""The real tokens of a padded batch, in chunks of equal size."""

import tensorflow as tf

from keras_seqattn.ops.fast.xla import under_xla
from keras_seqattn.ops.mask import zero_padding


class Chunks:
    """Deals tokens, and puts them back.

    In a graph the padding is left out. XLA wants to know all sizes: there the padding
    comes last, and only the chunks that begin before it are `used`.

    Args:
        mask: bool `[batch, target]`, True = real.
        rows: of a chunk, at most.
    """

    def __init__(self, mask, rows):
        self.mask, flat = mask, tf.reshape(mask, [-1])
        real = tf.reduce_sum(tf.cast(flat, "int32"))
        if under_xla():
            padded = tf.cast(tf.logical_not(flat), "int32")
            self.places, self.dealt = tf.argsort(padded, stable=True), tf.size(flat)
        else:
            self.places, self.dealt = tf.cast(tf.where(flat)[:, 0], "int32"), real
        self.count = tf.maximum(_ceil(self.dealt, rows), 1)
        self.rows = tf.maximum(_ceil(self.dealt, self.count), 1)
        self.used = tf.maximum(_ceil(real, self.rows), 1)

    def deal(self, x):
        """From `[batch, target, ...]` to `[count, rows, ...]`.

        Zeros are in the place of padding, and fill the last chunk.
        """
        depth = x.shape[2:]
        x = tf.reshape(zero_padding(x, self.mask), [-1, *depth])
        missing = self.count * self.rows - self.dealt
        x = tf.pad(tf.gather(x, self.places), [[0, missing], *[[0, 0]] * len(depth)])
        return tf.reshape(x, [self.count, self.rows, *depth])

    def put_back(self, x):
        """From `[count, rows, ...]` to `[batch, target, ...]`; zeros in the padding."""
        depth = x.shape[2:]
        x = tf.reshape(x, [self.count * self.rows, *depth])[: self.dealt]
        size = tf.size(self.mask)
        x = tf.scatter_nd(self.places[:, None], x, [size, *depth])
        shape = tf.concat([tf.shape(self.mask), depth], axis=0)
        return zero_padding(tf.reshape(x, shape), self.mask)


def _ceil(x, y):
    return (x + y - 1) // y
