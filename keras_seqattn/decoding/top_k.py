"""The k largest of many, faster than sorting them all."""

import tensorflow as tf

CHUNK = 64


def top_k(x, k):
    """`tf.math.top_k(x, k)`, the same values and indices, ties included.

    An element among the k largest lies in one of the k chunks with the largest maxima
    (with ties, those that come first), so only these are looked at closely. On two
    cores, `[320, 8000]` and k = 5 take a quarter of the time.

    Args:
        x: `[..., size]`, the size known.
        k: Python int, at most the size.

    Returns:
        values and indices, `[..., k]`, the largest first.
    """
    size = x.shape[-1]
    chunks = -(-size // CHUNK)
    if k == 1 or chunks < 4 * k:
        return tf.math.top_k(x, k)
    if size % CHUNK:
        rest = [[0, 0]] * (len(x.shape) - 1) + [[0, chunks * CHUNK - size]]
        x = tf.pad(x, rest, constant_values=-float("inf"))  # behind any real one
    axes = tf.shape(x)[:-1]
    x = tf.reshape(x, [-1, chunks, CHUNK])
    _, best = tf.math.top_k(tf.reduce_max(x, axis=-1), k)
    best = tf.sort(best, axis=-1)  # so that ties fall to the lower index
    candidates = tf.gather(x, best, batch_dims=1)
    values, index = tf.math.top_k(tf.reshape(candidates, [-1, k * CHUNK]), k)
    chunk = tf.gather(best, index // CHUNK, batch_dims=1)
    index = chunk * CHUNK + index % CHUNK
    shape = tf.concat([axes, [k]], axis=0)
    return tf.reshape(values, shape), tf.reshape(index, shape)
