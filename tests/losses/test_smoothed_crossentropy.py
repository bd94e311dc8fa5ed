"""SmoothedCrossentropy, compared with the losses of Keras."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

RNG = np.random.default_rng(7)
LOGITS = (3.0 * RNG.normal(size=(2, 4, 5))).astype("float32")
IDS = RNG.integers(5, size=(2, 4))
MASK = np.array([[True, True, True, False], [True, False, False, False]])
WEIGHTS = RNG.random((2, 4)).astype("float32")
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=-1, keepdims=True)


def masked(logits, mask=MASK):
    logits = tf.convert_to_tensor(logits)
    if mask is not None:
        logits._keras_mask = tf.convert_to_tensor(mask)
    return logits


def stock_and_labels(smoothing, from_logits=True, **options):
    """The loss of Keras, and the labels as it wants them."""
    if not smoothing:
        stock = keras.losses.SparseCategoricalCrossentropy(from_logits, **options)
        return stock, lambda ids, depth: ids
    options["label_smoothing"] = smoothing
    stock = keras.losses.CategoricalCrossentropy(from_logits, **options)
    return stock, lambda ids, depth: np.eye(depth)[ids]


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize(
    "reduction", ["sum_over_batch_size", "sum", "mean_with_sample_weight", None]
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["", "mask"])
def test_equals_keras(mask, weights, reduction, smoothing):
    ours = ks.losses.SmoothedCrossentropy(smoothing, reduction=reduction)
    stock, labels = stock_and_labels(smoothing, reduction=reduction)
    found = []
    for loss, y in ((ours, IDS), (stock, labels(IDS, 5))):
        logits = masked(LOGITS, mask)
        with tf.GradientTape() as tape:
            tape.watch(logits)
            value = loss(y, logits, weights)
        found.append((value, tape.gradient(value, logits)))
    (value, gradient), (expected, expected_gradient) = found
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_probabilities(smoothing):
    ours = ks.losses.SmoothedCrossentropy(smoothing, from_logits=False)
    stock, labels = stock_and_labels(smoothing, from_logits=False)
    expected = stock(labels(IDS, 5), PROBABILITIES)
    np.testing.assert_allclose(ours(IDS, PROBABILITIES), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "lengths, weights, expected",
    [(None, None, 3.06985), ([2, 1], None, 1.22118), ([3, 2], [0.6, 1.2], 1.77306)],
)
def test_opennmt_golden(lengths, weights, expected):
    """losses_test of OpenNMT-tf: sums over the real tokens."""
    logits = [
        [[0.1, 0.2, 0.9], [-1.2, 2.1, 0.0], [0.6, 0.3, 0.4]],
        [[-2.2, -0.2, -1.2], [2.3, 0.2, -0.1], [0.0, 0.1, 0.7]],
    ]
    labels = np.array([[2, 1, 0], [1, 0, 2]])
    mask = None if lengths is None else np.arange(3) < np.array(lengths)[:, None]
    weights = None if weights is None else np.repeat(np.array([weights]).T, 3, axis=1)
    loss = ks.losses.SmoothedCrossentropy(0.0, reduction="sum")
    total = loss(labels, masked(np.array(logits, "float32"), mask), weights)
    np.testing.assert_allclose(total, expected, rtol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_gradient(dtype, scale, smoothing):
    """softmax(z) - q, finite for logits of any size."""
    logits = tf.cast(scale * LOGITS, dtype)
    loss = ks.losses.SmoothedCrossentropy(smoothing, reduction="sum")
    with tf.GradientTape() as tape:
        tape.watch(logits)
        value = loss(IDS, logits)
    assert value.dtype == "float32"
    z = np.array(tf.cast(logits, "float64"))
    shifted = np.exp(z - z.max(axis=-1, keepdims=True))
    softmax = shifted / shifted.sum(axis=-1, keepdims=True)
    expected = softmax - (1 - smoothing) * np.eye(5)[IDS] - smoothing / 5
    gradient = np.array(tf.cast(tape.gradient(value, logits), "float64"))
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6}[dtype]
    np.testing.assert_allclose(gradient, expected, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "mixed_bfloat16"])
def test_half_precision_does_not_round_ids(dtype):
    """2049 is no float16, 257 no bfloat16."""
    logits = np.zeros((1, 2051), "float32")
    logits[0, 2049], logits[0, 257] = 50.0, 50.0
    loss = ks.losses.SmoothedCrossentropy(0.0, dtype=dtype)
    assert loss.dtype == "float32"
    for label in (2049, 257):
        found = loss(np.array([label]), logits)
        np.testing.assert_allclose(found, np.log(2), rtol=1e-6)


def test_float64_stays_and_so_does_the_configuration():
    loss = ks.losses.SmoothedCrossentropy(0.1, dtype="float64")
    assert loss(IDS, LOGITS.astype("float64")).dtype == "float64"
    options = {"from_logits": False, "reduction": "sum", "dtype": "float64"}
    loss = ks.losses.SmoothedCrossentropy(0.3, name="smooth", **options)
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert isinstance(again, ks.losses.SmoothedCrossentropy)
    assert again.get_config() == loss.get_config()
    assert again(IDS, PROBABILITIES) == loss(IDS, PROBABILITIES)
