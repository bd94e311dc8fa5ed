"""A mechanism of one's own in the fast loop: what Keras tells it, it is told again."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks


class Doubled(keras.layers.Layer):
    """Asks Keras whether it trains, as any layer of Keras does."""

    def call(self, x, training=None):
        return 2.0 * x if training else x


class WithLayer(ks.BahdanauAttention):
    def build(self, query_shape, value_shape):
        super().build(query_shape, value_shape)
        self.doubled = Doubled(dtype=self.dtype_policy)

    def score(self, query, memory, state=()):
        return super().score(self.doubled(query), memory, state)


class WithWeight(ks.BahdanauAttention):
    def build(self, query_shape, value_shape):
        super().build(query_shape, value_shape)
        self.gain = self.add_weight(name="gain", shape=query_shape[-1:])

    def score(self, query, memory, state=()):
        return super().score(query * self.gain, memory, state)


class Detached(ks.BahdanauAttention):
    def score(self, query, memory, state=()):
        return super().score(keras.ops.stop_gradient(query), memory, state)


def gradients(kind, dtype, implementation):
    keras.utils.set_random_seed(1)
    cell = ks.layers.BahdanauCell(4, kind(4, dtype=dtype))
    decoder = ks.AttentionDecoder(cell, implementation=implementation)
    random = np.random.default_rng(2)
    inputs, value = (
        tf.constant(random.normal(size=(2, length, 4)), "float32") for length in (3, 5)
    )
    decoder(inputs, value)

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            outputs = decoder(inputs, value, training=True)
            loss = tf.reduce_sum(tf.cast(outputs, "float32") ** 2)
        return tape.gradient(loss, [v.value for v in decoder.trainable_variables])

    return dict(zip([v.path for v in decoder.trainable_variables], run(), strict=True))


@pytest.mark.parametrize("kind", [WithLayer, WithWeight, Detached])
@pytest.mark.parametrize(
    ("dtype", "bound"), [("float32", 1e-5), ("mixed_bfloat16", 5e-2)]
)
def test_gradients_are_those_of_the_reference(kind, dtype, bound):
    expected = gradients(kind, dtype, "reference")
    received = gradients(kind, dtype, "fast")
    for (name, one), other in zip(received.items(), expected.values(), strict=True):
        largest = np.abs(other).max()
        assert largest > 0, name
        np.testing.assert_allclose(one, other, rtol=0, atol=bound * largest)
