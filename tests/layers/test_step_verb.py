"""Step verbs: `prepare`, `attend` and `step` compute at once, or say why not."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.composite import step_verb
from tests.raised import check_error


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


def test_verb_keeps_its_name_and_text_and_needs_a_built_layer():
    assert Scale.times.__name__ == "times" and Scale.times.__doc__ == "Multiplies."
    what = "Scale.times was called before the layer has weights"
    check_error(lambda: Scale().times(np.ones((3, 2))), what)


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
    what = "Scale.times got a symbolic KerasTensor", "<KerasTensor shape="
    for layer in (built(), Scale()):
        check_error(lambda layer=layer: layer.times(*arguments, **options), *what)


@pytest.mark.parametrize(
    "policy, given, expected",
    [
        *[("float32", "float64", "float32"), ("float64", "float32", "float64")],
        *[("mixed_float16", "float32", "float16"), ("mixed_float16", "int32", "int32")],
        ("mixed_bfloat16", "float32", "bfloat16"),
    ],
)
def test_first_argument_is_cast_as_call_does(policy, given, expected):
    layer, x = built(dtype=policy), np.ones((3, 2), given)
    step, _ = layer.times(x)
    whole, _ = layer(x)
    assert keras.backend.standardize_dtype(step.dtype) == expected
    assert step.dtype == whole.dtype


def test_arguments_may_be_named_and_verbs_train():
    x = np.full((3, 2), 2.0, "float32")
    for result, training in (
        built().times(x, 3.0, True),
        built().times(x, by=3.0, training=True),
        built().times(x=x, by=3.0, training=True),
    ):
        assert training is True and np.all(result == 6.0)
    assert built().times(x, training=True)[1] is True  # what is skipped has its default
    # The weights are tracked: a gradient reaches those that a verb uses.
    attention = ks.BahdanauAttention(3)
    attention.build((2, 4), (2, 5, 6))
    value = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
    with tf.GradientTape() as tape:
        context = attention.attend(tf.ones((2, 4)), attention.prepare(value)).context
        loss = tf.reduce_sum(tf.square(context))
    weights = [weight.value for weight in attention.trainable_weights]
    assert all(np.any(gradient) for gradient in tape.gradient(loss, weights))
