"""Cross-entropy: TensorFlow's, in float64, and so is its gradient."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops.cross_entropy import cross_entropy

RNG = np.random.default_rng(11)
LOGITS = 4.0 * RNG.normal(size=(2, 3, 7))
LABELS = RNG.integers(7, size=(2, 3))
FACTORS = RNG.normal(size=(2, 3))


def stock(logits, smoothing):
    q = (1.0 - smoothing) * tf.one_hot(LABELS, 7, dtype=logits.dtype) + smoothing / 7
    return tf.nn.softmax_cross_entropy_with_logits(q, logits)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("jit", [False, True], ids=["", "xla"])
def test_equals_tensorflow(smoothing, jit):
    def value_and_gradient(function):
        logits = tf.constant(LOGITS)
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.reduce_sum(FACTORS * function(logits))
        return loss, tape.gradient(loss, logits)

    ours = tf.function(
        lambda: value_and_gradient(lambda z: cross_entropy(LABELS, z, smoothing)),
        jit_compile=jit,
        autograph=False,
    )()
    theirs = value_and_gradient(lambda z: stock(z, smoothing))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shift", [1e4, -1e4])
def test_large_logits(shift):
    """Only differences matter; nothing overflows."""
    logits = (LOGITS + shift).astype("float32")
    expected = stock(tf.constant(logits, "float64"), 0.1)
    np.testing.assert_allclose(cross_entropy(LABELS, logits, 0.1), expected, rtol=1e-5)


@pytest.mark.parametrize("label", [-1, 7])
def test_an_id_that_is_no_token_is_an_error(label):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 7\)"):
        cross_entropy(np.array([label]), LOGITS[0, :1].astype("float32"))
