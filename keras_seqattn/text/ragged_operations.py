"""Row operations of ragged tensors, with fewer operations than TensorFlow's own."""

import tensorflow as tf


def row_of(splits):
    """Return the row of each value, int64."""
    values = tf.range(splits[-1])
    return tf.cast(tf.searchsorted(splits, values, side="right") - 1, tf.int64)


def running_sum(values, splits):
    """Return the sum from the start of its row up to and including each value."""
    sums = tf.concat([[0], tf.cumsum(values)], axis=0)
    return sums[1:] - tf.gather(tf.gather(sums, splits), row_of(splits))


def keep(kept, splits):
    """Return the indices of the values to keep, and the new splits."""
    counts = tf.concat([[0], tf.cumsum(tf.cast(kept, tf.int64))], axis=0)
    return tf.where(kept)[:, 0], tf.gather(counts, splits)


def ragged_rows(splits, *values):
    """Return ragged tensors with the same rows; `splits` are int64."""
    return tuple(
        tf.RaggedTensor.from_row_splits(x, splits, validate=False) for x in values
    )
