"""Step verbs: `prepare`, `attend` and `step` compute at once, or say why not."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.parts.step_verb import step_verb


class Scale(keras.layers.Layer):
    """The smallest layer with a step verb."""

    def build(self, x_shape):
        self.factor = self.add_weight(name="factor", shape=(), initializer="ones")

    def call(self, x):
        return self.times(x)

    @step_verb
    def times(self, x, by=1, training=None):
        """Multiplies."""
        return x * keras.ops.cast(self.factor, x.dtype) * by, training


def built(**options):
    layer = Scale(**options)
    layer.build((None, 2))
    return layer


def test_verb_keeps_its_name_and_text():
    assert Scale.times.__name__ == "times" and Scale.times.__doc__ == "Multiplies."


def test_unbuilt_layer():
    with pytest.raises(ValueError, match="Scale.times was called before the layer has"):
        Scale().times(np.ones((3, 2)))


@pytest.mark.parametrize(
    "arguments, options",
    [
        ((keras.KerasTensor((3, 2)),), {}),
        ((np.ones((3, 2)), keras.KerasTensor(())), {}),
        ((np.ones((3, 2)),), {"by": keras.KerasTensor(())}),
        ((np.ones((3, 2)), {"a": [keras.KerasTensor(())]}), {}),
    ],
)
def test_symbolic_tensor_anywhere(arguments, options):
    """Also in a nest or by name, and whether or not the layer is built."""
    for layer in (built(), Scale()):
        with pytest.raises(
            ValueError, match="received <KerasTensor shape=.*Call the la"
        ):
            layer.times(*arguments, **options)


@pytest.mark.parametrize(
    "policy, given, expected",
    [
        ("float32", "float64", "float32"),
        ("float64", "float32", "float64"),
        ("mixed_float16", "float32", "float16"),
        ("mixed_bfloat16", "float32", "bfloat16"),
        ("mixed_float16", "int32", "int32"),
    ],
)
def test_first_argument_is_cast_as_call_does(policy, given, expected):
    layer, x = built(dtype=policy), np.ones((3, 2), given)
    step, _ = layer.times(x)
    whole, _ = layer(x)
    assert keras.backend.standardize_dtype(step.dtype) == expected
    assert step.dtype == whole.dtype


def test_arguments_may_be_named():
    x = np.full((3, 2), 2.0, "float32")
    for result, training in (
        built().times(x, 3.0, True),
        built().times(x, by=3.0, training=True),
        built().times(x=x, by=3.0, training=True),
    ):
        assert training is True and np.all(result == 6.0)
    assert built().times(x, training=True)[1] is True  # what is skipped has its default


def test_decoder_verbs_may_be_named():
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(3, ks.BahdanauAttention(3)))
    inputs, value = np.ones((2, 1, 4), "float32"), np.ones((2, 5, 6), "float32")
    outputs = decoder(inputs, value)
    memory = decoder.prepare(value=value, mask=None)
    state = decoder.initial_state(memory=memory)
    step = decoder.step(inputs_t=inputs[:, 0], state=state, memory=memory)
    np.testing.assert_array_equal(step.output, outputs[:, 0])


def test_verbs_work_in_a_graph():
    attention = ks.BahdanauAttention(3)
    value = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
    query = np.random.default_rng(1).normal(size=(2, 4)).astype("float32")
    expected = attention(query, value)

    @tf.function(
        input_signature=[tf.TensorSpec((None, 4)), tf.TensorSpec((None, None, 6))]
    )
    def graph(query, value):
        return attention.attend(query, attention.prepare(value)).context

    np.testing.assert_allclose(graph(query, value), expected, rtol=0, atol=1e-6)


def test_verbs_train():
    """The weights are tracked: a gradient reaches those that a verb uses."""
    attention = ks.BahdanauAttention(3)
    attention.build((2, 4), (2, 5, 6))
    value = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
    with tf.GradientTape() as tape:
        context = attention.attend(tf.ones((2, 4)), attention.prepare(value)).context
        loss = tf.reduce_sum(tf.square(context))
    weights = [weight.value for weight in attention.trainable_weights]
    assert all(np.any(gradient) for gradient in tape.gradient(loss, weights))
