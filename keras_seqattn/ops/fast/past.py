"""Nodes that are written into their place: nothing else is copied."""

import tensorflow as tf


def write(nodes, new, place):
    """Return `nodes` with `new` from `place` on, as `keras.ops.slice_update` does.

    That one and `keras.ops.scatter_update` copy all nodes. Here TensorFlow writes into
    the tensor itself, if nothing else reads it. XLA cannot compile it for a place that
    it does not know.

    Args:
        nodes: `[batch, ..., nodes, depth]`.
        new: `[batch, ..., beam, depth]`.
        place: int32 scalar.
    """
    before, other = [0] * (len(nodes.shape) - 2), 1 << (len(nodes.shape) - 2)
    whole = (1 << len(nodes.shape)) - 1 - other  # all axes but that of the nodes
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=nodes,
        begin=tf.stack([*before, place, 0]),
        end=tf.stack([*before, place + tf.shape(new)[-2], 0]),
        strides=[1] * len(nodes.shape),
        value=new,
        begin_mask=whole,
        end_mask=whole,
    )
