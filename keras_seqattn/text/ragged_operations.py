"""Along the rows of ragged tensors, in fewer operations than TensorFlow's own."""

import tensorflow as tf


def row_of(splits):
    """The row of each value, int64."""
    values = tf.range(splits[-1])
    return tf.cast(tf.searchsorted(splits, values, side="right") - 1, tf.int64)


def running_sum(values, splits):
    """Sums from the start of the row up to and including each value."""
    sums = tf.concat([[0], tf.cumsum(values)], axis=0)
    return sums[1:] - tf.gather(tf.gather(sums, splits), row_of(splits))


def keep(kept, splits):
    """Indices of the values that are kept, and the splits of what is left."""
    counts = tf.concat([[0], tf.cumsum(tf.cast(kept, tf.int64))], axis=0)
    return tf.where(kept)[:, 0], tf.gather(counts, splits)


def ragged_rows(splits, *values):
    """Ragged tensors with the same rows, int64 splits."""
    return tuple(
        tf.RaggedTensor.from_row_splits(x, splits, validate=False) for x in values
    )
