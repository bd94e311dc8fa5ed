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


def model(seed=3):
    """Logits that carry the mask of the ids."""
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [
            keras.layers.Embedding(6, 4, mask_zero=True),
            keras.layers.Dense(6),
        ]
    )


@pytest.mark.parametrize(
    "reduction", ["sum_over_batch_size", "sum", "mean_with_sample_weight", None]
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["", "mask"])
class TestEqualsKeras:
    def test_sparse_without_smoothing(self, mask, weights, reduction):
        ours = ks.losses.SmoothedCrossentropy(0.0, reduction=reduction)
        stock = keras.losses.SparseCategoricalCrossentropy(True, reduction=reduction)
        logits = masked(LOGITS, mask)
        np.testing.assert_allclose(
            ours(IDS, logits, weights), stock(IDS, logits, weights), rtol=1e-6
        )

    def test_dense_with_smoothing(self, mask, weights, reduction):
        ours = ks.losses.SmoothedCrossentropy(0.2, reduction=reduction)
        stock = keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=0.2, reduction=reduction
        )
        logits, one_hots = masked(LOGITS, mask), np.eye(5)[IDS]
        np.testing.assert_allclose(
            ours(IDS, logits, weights), stock(one_hots, logits, weights), rtol=1e-6
        )


def test_probabilities():
    ours = ks.losses.SmoothedCrossentropy(0.0, from_logits=False)
    stock = keras.losses.SparseCategoricalCrossentropy()
    expected = stock(IDS, PROBABILITIES)
    np.testing.assert_allclose(ours(IDS, PROBABILITIES), expected, rtol=1e-6)
    ours = ks.losses.SmoothedCrossentropy(0.2, from_logits=False)
    stock = keras.losses.CategoricalCrossentropy(label_smoothing=0.2)
    expected = stock(np.eye(5)[IDS], PROBABILITIES)
    np.testing.assert_allclose(ours(IDS, PROBABILITIES), expected, rtol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_fit(smoothing, weights):
    """Losses and trained weights of `fit`, padding and sample weights included."""
    ids = np.array([[3, 4, 5, 1], [2, 4, 0, 0]])
    labels = np.array([[4, 5, 1, 2], [4, 2, 0, 0]])
    if smoothing:
        stock = keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=smoothing
        )
        stock_labels = np.eye(6)[labels]
    else:
        stock = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        stock_labels = labels
    fitted = []
    for loss, y in (
        (ks.losses.SmoothedCrossentropy(smoothing), labels),
        (stock, stock_labels),
    ):
        trained = model()
        trained.compile(keras.optimizers.SGD(0.5), loss)
        history = trained.fit(ids, y, sample_weight=weights, epochs=3, verbose=0)
        fitted.append((history.history["loss"], trained.get_weights()))
    (losses, ours), (stock_losses, theirs) = fitted
    np.testing.assert_allclose(losses, stock_losses, rtol=1e-6)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


# Golden values ------------------------------------------------------------------------


def test_keras_golden():
    """keras losses_test: logits [100, -100, -100], smoothing 0.1."""
    loss = ks.losses.SmoothedCrossentropy(0.1)
    logits = np.array([[100.0, -100.0, -100.0]], "float32")
    np.testing.assert_allclose(loss(np.array([0]), logits), 400 * 0.1 / 3, rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_tensorflow_addons_golden(smoothing):
    """loss_test of tensorflow/addons: equal logits, ln 5 whatever the label is."""
    logits = np.array([[[0.5] * 5], [[1.5] * 5], [[2.5] * 5]], "float32")
    loss = ks.losses.SmoothedCrossentropy(smoothing)
    np.testing.assert_allclose(loss(np.array([[0], [3], [1]]), logits), np.log(5))
    assert loss(np.array([[0], [3], [1]]), logits, np.zeros((3, 1))) == 0


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


# Precision ----------------------------------------------------------------------------


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
        np.testing.assert_allclose(
            loss(np.array([label]), logits), np.log(2), rtol=1e-6
        )


def test_float64_stays():
    loss = ks.losses.SmoothedCrossentropy(0.1, dtype="float64")
    assert loss(IDS, LOGITS.astype("float64")).dtype == "float64"


# Saving -------------------------------------------------------------------------------


def test_config():
    loss = ks.losses.SmoothedCrossentropy(
        0.3, from_logits=False, reduction="sum", name="smooth", dtype="float64"
    )
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert isinstance(again, ks.losses.SmoothedCrossentropy)
    assert again.get_config() == loss.get_config()
    assert again(IDS, PROBABILITIES) == loss(IDS, PROBABILITIES)


def test_compiled_model_keeps_it(tmp_path):
    trained = model()
    trained.compile("sgd", ks.losses.SmoothedCrossentropy(0.3))
    trained.build((None, 4))
    trained.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.loss.label_smoothing == 0.3
