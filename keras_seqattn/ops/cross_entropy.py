"""Cross-entropy of token ids, with a gradient written by hand."""

import keras
from keras import ops

from keras_seqattn.ops.precision import at_least_float32


def cross_entropy(labels, logits, smoothing=0.0):
    """Cross-entropy of token ids, smoothed or not.

        q_v = (1 - eps) [v = y] + eps / V
        loss = - sum{q_v log softmax(z)_v : v}
             = log sum{exp z_v : v} - (1 - eps) z_y - eps mean{z_v : v}
        d loss / d z = softmax(z) - q

    TensorFlow's own operation runs on one core, and computes the gradient even if it is
    not used. This one takes three passes over the vocabulary, on all cores.

    Args:
        labels: token ids `[..., ]`.
        logits: `[..., vocabulary]`, at least float32.
        smoothing: eps.

    Returns:
        One value per token `[...]`.
    """
    labels = ops.cast(labels, "int32")[..., None]
    size = logits.shape[-1]
    # A negative id must not count from the end of the vocabulary.
    labels = ops.where(labels < 0, size, labels)

    @ops.custom_gradient
    def of_logits(z):
        shifted = z - ops.max(z, axis=-1, keepdims=True)
        powers = ops.exp(shifted)
        total = ops.sum(powers, axis=-1, keepdims=True)
        of_label = ops.take_along_axis(shifted, labels, axis=-1)
        value = ops.log(total) - (1.0 - smoothing) * of_label
        if smoothing:
            value = value - smoothing * ops.mean(shifted, axis=-1, keepdims=True)

        def gradient(*upstream):
            (g,) = upstream
            dz = powers * (g / total)
            if smoothing:
                dz = dz - g * (smoothing / size)
            # q is constant except at the label: a one-hot would take five more passes.
            at_label = ops.take_along_axis(dz, labels, axis=-1)
            return _replaced(dz, labels, at_label - (1.0 - smoothing) * g)

        return value, gradient

    return ops.squeeze(of_logits(logits), axis=-1)


def _replaced(x, places, values):
    """`x [..., n]` with one value of each row replaced; places, values: `[..., 1]`."""
    rows = ops.reshape(x, (-1, x.shape[-1]))
    places = ops.reshape(places, (-1, 1))
    numbers = ops.arange(ops.shape(rows)[0], dtype=places.dtype)[:, None]
    indices = ops.concatenate([numbers, places], axis=-1)
    rows = ops.scatter_update(rows, indices, ops.reshape(values, (-1,)))
    return ops.reshape(rows, ops.shape(x))


def as_logits(x, from_logits):
    """Predictions as logits; without `from_logits` they are probabilities."""
    x = at_least_float32(x)
    if from_logits:
        return x
    tiny = keras.config.epsilon()
    return ops.log(ops.clip(x, tiny, 1.0 - tiny))
