"""The real tokens of a padded batch, in chunks of equal size."""

import tensorflow as tf

from keras_seqattn.ops.fast.call_context import under_xla
from keras_seqattn.ops.mask import zero_padding


class TokenChunks:
    """Takes the tokens out of a padded batch, and puts their results back.

    In a graph the padding is left out. XLA needs static sizes: there the padding comes
    last, and only the chunks that begin before it are `used`.

    Args:
        mask: bool `[batch, target]`, True = real.
        rows: the largest size of a chunk.
    """

    def __init__(self, mask, rows):
        self.mask, flat = mask, tf.reshape(mask, [-1])
        real = tf.reduce_sum(tf.cast(flat, "int32"))
        if under_xla():
            padded = tf.cast(tf.logical_not(flat), "int32")
            self.places, self.taken = tf.argsort(padded, stable=True), tf.size(flat)
        else:
            self.places, self.taken = tf.cast(tf.where(flat)[:, 0], "int32"), real
        self.count = tf.maximum(_ceil(self.taken, rows), 1)
        self.rows = tf.maximum(_ceil(self.taken, self.count), 1)
        self.used = tf.maximum(_ceil(real, self.rows), 1)

    def split(self, x):
        """Return the tokens of `[batch, target, ...]` as `[count, rows, ...]`.

        Zeros are in the place of padding, and fill the last chunk.
        """
        depth = x.shape[2:]
        x = tf.reshape(zero_padding(x, self.mask), [-1, *depth])
        missing = self.count * self.rows - self.taken
        x = tf.pad(tf.gather(x, self.places), [[0, missing], *[[0, 0]] * len(depth)])
        return tf.reshape(x, [self.count, self.rows, *depth])

    def put_back(self, x):
        """Undo `split`: to `[batch, target, ...]`, with zeros in the padding."""
        depth = x.shape[2:]
        x = tf.reshape(x, [self.count * self.rows, *depth])[: self.taken]
        size = tf.size(self.mask)
        x = tf.scatter_nd(self.places[:, None], x, [size, *depth])
        shape = tf.concat([tf.shape(self.mask), depth], axis=0)
        return zero_padding(tf.reshape(x, shape), self.mask)


def _ceil(x, y):
    return (x + y - 1) // y
