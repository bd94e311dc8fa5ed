"""The probability of the model's own token, step by step."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

# (probability, eps_i as in the paper).
PAPER = [
    (ks.models.ConstantProbability(0.25), lambda i: 0.75),
    (ks.models.LinearProbability(0.1), lambda i: max(0.0, 1 - 0.1 * i)),
    (ks.models.LinearProbability(1e-3, 0.1, 0.7), lambda i: max(0.3, 0.9 - 1e-3 * i)),
    (ks.models.ExponentialProbability(0.9999), lambda i: 0.9999**i),
    (ks.models.ExponentialProbability(1 - 1e-9), lambda i: (1 - 1e-9) ** i),
    (
        ks.models.InverseSigmoidProbability(100),
        lambda i: 100 / (100 + np.exp(np.longdouble(i) / 100)),
    ),
]


@pytest.mark.parametrize("probability, epsilon", PAPER)
def test_one_minus_the_decay_of_the_paper(probability, epsilon):
    for step in (0, 1, 10, 461, 5_000, 1_000_000):
        value = float(probability(step))
        assert 0.0 <= value <= 1.0
        assert value == pytest.approx(float(1 - epsilon(step)), rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("probability, _", PAPER)
def test_in_a_graph(probability, _):
    step = tf.Variable(10, dtype="int64")
    compiled = tf.function(lambda: probability(step), jit_compile=True)
    assert compiled().shape == ()
    np.testing.assert_allclose(compiled(), probability(10), rtol=1e-5)


@pytest.mark.parametrize("probability, _", PAPER)
def test_config(probability, _):
    config = keras.saving.serialize_keras_object(probability)
    again = keras.saving.deserialize_keras_object(config)
    assert type(again) is type(probability)
    assert again.get_config() == probability.get_config()


def test_one_of_your_own():
    class Step(ks.models.SamplingProbability):
        def __call__(self, step):
            return keras.ops.cast(step > 3, "float32")

    assert Step.from_config(Step().get_config())(4) == 1.0
