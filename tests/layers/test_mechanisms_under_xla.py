"""Every mechanism trains in a decoder's loop under XLA, whatever the sizes are.

With batch, target and source all unknown while tracing, some gradients (of a product
over more than two axes, or of a loop that may have no turn) cannot be compiled.
"""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.layers.mechanism_cases import assert_close, built


def additive():
    return ks.BahdanauAttention(3)


MECHANISMS = {
    "bahdanau": additive,
    "normalized": lambda: ks.BahdanauAttention(3, normalize=True, value_units=5),
    "general": lambda: ks.LuongAttention("general", scale=True),
    "concat": lambda: ks.LuongAttention("concat"),
    "location": lambda: ks.LuongAttention("location", maximum_source=6),
    "projected_dot": lambda: ks.layers.ProjectedDotAttention(3),
    "one_layer": ks.layers.OneLayerAttention,
    "coverage": lambda: ks.layers.CoverageAttention(3),
    "location_sensitive": lambda: ks.layers.LocationSensitiveAttention(3, 2, 3),
    "local_monotonic": lambda: ks.layers.LocalAttention(additive(), 2),
    "local_predictive": lambda: ks.layers.LocalAttention(additive(), 2, "predictive"),
    "monotonic": lambda: ks.layers.MonotonicAttention(additive()),
    "multi_head": lambda: ks.layers.MultiHeadAdditiveAttention(4, heads=2),
    "fast": lambda: ks.BahdanauAttention(3, normalize=True, implementation="fast"),
    "multi_head_fast": lambda: ks.layers.MultiHeadAdditiveAttention(
        4, heads=2, implementation="fast"
    ),
}


def given(batch, target, source):
    random = np.random.default_rng(source)
    query = random.normal(size=(batch, target, 4)).astype("float32")
    value = random.normal(size=(batch, source, 6)).astype("float32")
    return query, value, np.arange(source) < np.arange(1, batch + 1)[:, None]


@pytest.mark.parametrize("name", MECHANISMS)
def test_gradients_under_xla_with_every_size_unknown(name):
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(5, MECHANISMS[name]()))
    built(decoder, *given(2, 3, 4)[:2])

    def step(query, value, mask):
        with tf.GradientTape() as tape:
            outputs = decoder(query, value, value_mask=mask, training=True)
            loss = tf.reduce_sum(outputs**2)
        found = tape.gradient(loss, decoder.trainable_variables)
        return outputs, [tf.convert_to_tensor(g) for g in found if g is not None]

    sizes = tf.TensorSpec((None, None, 4)), tf.TensorSpec((None, None, 6))
    signature = [*sizes, tf.TensorSpec((None, None), tf.bool)]
    compiled = tf.function(step, jit_compile=True, input_signature=signature)
    for size in ((3, 2, 7), (1, 1, 1)):
        (outputs, found), (expected, wanted) = (
            f(*given(*size)) for f in (compiled, step)
        )
        assert_close(outputs, np.asarray(expected), 1e-5)
        for gradient, want in zip(found, wanted, strict=True):
            assert_close(gradient, np.asarray(want), 1e-5 * (1 + np.max(np.abs(want))))
