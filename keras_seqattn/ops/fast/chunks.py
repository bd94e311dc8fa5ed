"""Scores of many queries, some queries at a time.

The hidden layer of a score is `[batch, target, source, units]`. It is never needed for
all targets at once: the forward pass reduces it to scores, chunk by chunk, and the
backward pass computes it again.
"""

import tensorflow as tf
from keras import ops

# Entries of a hidden layer in one chunk: 8 MB. Smaller chunks cost time and save hardly
# any memory: `python -m benchmarks.run whole_sequence_200 whole_sequence_memory`.
ENTRIES = 2**21


def in_chunks(score, query, keys, *weights):
    """`score(query, keys, *weights)`, its hidden layer in parts that fit the caches.

    Args:
        score: function whose result for a query does not depend on the other queries.
        query: `[batch, target, ..., units]`.
        keys: `[batch, source, ..., units]`.
        weights: further arguments of `score`.

    Returns:
        `[batch, target, ..., source]`.
    """
    number, size = _plan(query, keys)
    score = recomputed(score)
    shape = (query.shape[0], size, *query.shape[2:-1], keys.shape[1])
    shape = [n if isinstance(n, int) else None for n in shape]
    scores = tf.map_fn(
        lambda chunk: score(chunk, keys, *weights),
        _split(query, number, size),
        fn_output_signature=tf.TensorSpec(shape, query.dtype),
        parallel_iterations=1,  # more would hold more
    )
    return _join(scores)[:, : ops.shape(query)[1]]


def recomputed(function):
    """`function` of tensors, computed again for its gradient instead of kept."""

    @tf.custom_gradient
    def computed(*tensors):
        def gradient(upstream):
            # Inside a loop's gradient, a tape does not see tensors from outside of it.
            inputs = [tf.identity(x) for x in tensors]
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                result = function(*inputs)
            gradients = tape.gradient(result, inputs, upstream)
            return [
                tf.raw_ops.PreventGradient(input=x, message=_ONCE) for x in gradients
            ]

        return function(*tensors), gradient

    return computed


def _plan(query, keys):
    """The number of chunks and their size; Python's integers where they are known."""
    batch, target, *depths = ops.shape(query)
    most = ENTRIES
    for size in (batch, ops.shape(keys)[1], *depths):
        most = _at_least_1(most // _at_least_1(size))
    number = _at_least_1(-(-target // most))
    return number, -(-target // number)


def _at_least_1(size):
    return max(size, 1) if isinstance(size, int) else tf.maximum(size, 1)


def _split(x, number, size):
    """`[batch, target, ...]` to `[number, batch, size, ...]`, filled up with zeros."""
    batch, target, *rest = ops.shape(x)
    more = [[0, 0], [0, number * size - target], *[[0, 0] for _ in rest]]
    return _swap(tf.reshape(tf.pad(x, more), (batch, number, size, *rest)))


def _join(chunks):
    """`[number, batch, size, ...]` to `[batch, number * size, ...]`."""
    chunks = _swap(chunks)
    batch, number, size, *rest = ops.shape(chunks)
    return tf.reshape(chunks, (batch, number * size, *rest))


def _swap(x):
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])


_ONCE = (
    "The fast score has first derivatives only. Expected a gradient, received the "
    "gradient of one. Pass implementation='reference' to the attention, whose "
    "derivatives are TensorFlow's."
)
