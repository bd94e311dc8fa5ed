"""Token accuracy and perplexity: every real token of an epoch counts the same."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

LENGTHS = (3, 9, 2)  # of three batches


def batches():
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        ids = rng.integers(1, 6, size=(4, length))
        ids[0, 1:] = 0  # padding
        labels = rng.integers(1, 6, size=(4, length))
        yield ids, labels, rng.random((4, length)).astype("float32")


def dataset():
    specs = [tf.TensorSpec((None, None), dtype) for dtype in ("int32", "int32", float)]
    found = tf.data.Dataset.from_generator(batches, output_signature=tuple(specs))
    return found.apply(tf.data.experimental.assert_cardinality(len(LENGTHS)))


def model():
    """Logits that carry the mask of the ids, as those of our heads do."""
    return keras.Sequential(
        [keras.layers.Embedding(6, 4, mask_zero=True), keras.layers.Dense(6)]
    )


def expected(model, weighted):
    """(accuracy, perplexity), token by token."""
    right = surprise = total = 0.0
    for ids, labels, weights in batches():
        weights = (ids != 0) * (weights if weighted else 1.0)
        logits = model(ids).numpy().astype("float64")
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        said = np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
        right += (weights * (logits.argmax(axis=-1) == labels)).sum()
        surprise -= (weights * said).sum()
        total += weights.sum()
    return right / total, np.exp(surprise / total)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled(jit_compile):
    """Masks count in both lists, sample weights in `weighted_metrics` only."""
    trained = model()
    trained.compile(
        "sgd",
        keras.losses.SparseCategoricalCrossentropy(True),
        metrics=[
            ks.metrics.TokenAccuracy("plain"),
            ks.metrics.Perplexity(name="plain_perplexity"),
        ],
        weighted_metrics=[
            ks.metrics.TokenAccuracy(),
            ks.metrics.Perplexity(),
            "accuracy",
        ],
        jit_compile=jit_compile,
    )
    logs = trained.evaluate(dataset(), return_dict=True, verbose=0)
    plain, weighted = expected(trained, False), expected(trained, True)
    np.testing.assert_allclose(logs["plain"], plain[0], rtol=1e-5)
    np.testing.assert_allclose(logs["plain_perplexity"], plain[1], rtol=1e-5)
    np.testing.assert_allclose(logs["token_accuracy"], weighted[0], rtol=1e-5)
    np.testing.assert_allclose(logs["perplexity"], weighted[1], rtol=1e-5)
    # Why they exist: Keras's accuracy lets short batches weigh more.
    assert abs(logs["accuracy"] - weighted[0]) > 0.01
    # Each epoch starts anew.
    again = trained.evaluate(dataset(), return_dict=True, verbose=0)
    np.testing.assert_allclose(again["perplexity"], logs["perplexity"], rtol=1e-5)


def test_keras_knows_which_way_is_better():
    trained = model()
    trained.compile(
        "sgd",
        keras.losses.SparseCategoricalCrossentropy(True),
        weighted_metrics=[ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()],
    )
    stops = [keras.callbacks.EarlyStopping(m) for m in ("token_accuracy", "perplexity")]
    trained.fit(dataset(), shuffle=False, verbose=0, callbacks=stops)
    up, down = (stop.monitor_op(2.0, 1.0) for stop in stops)
    assert up and not down


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_padding_may_hold_nan(dtype):
    logits = np.zeros((2, 3, 4), "float32")
    logits[0, :2, 1] = 20.0
    logits[0, 2:], logits[1] = np.nan, np.nan
    logits = tf.cast(logits, dtype)
    labels = np.array([[1, 2, 0], [0, 0, 0]])
    mask = np.array([[True, True, False], [False] * 3])
    for factor in ("mask", "weights"):
        accuracy, perplexity = ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()
        z = tf.identity(logits)
        if factor == "mask":
            z._keras_mask = tf.convert_to_tensor(mask)
        weights = mask.astype("float32") if factor == "weights" else None
        for metric in (accuracy, perplexity):
            metric.update_state(labels, z, weights)
        assert accuracy.result().numpy() == 0.5
        np.testing.assert_allclose(perplexity.result(), np.exp(10.0), rtol=1e-5)


def test_nothing_real():
    logits = tf.zeros((1, 2, 3))
    logits._keras_mask = tf.zeros((1, 2), "bool")
    for metric, value in (
        (ks.metrics.TokenAccuracy(), 0.0),
        (ks.metrics.Perplexity(), 1.0),
    ):
        metric.update_state(np.zeros((1, 2), int), logits)
        assert metric.result().numpy() == value


def test_single_labels():
    """`[batch, vocabulary]`: Keras gives such labels an axis more."""
    logits = np.eye(3)[[0, 1, 1]]
    for labels in (np.array([0, 1, 2]), np.array([[0], [1], [2]])):
        for weights in (np.array([1.0, 1.0, 2.0]), np.array([[1.0], [1.0], [2.0]])):
            metric = ks.metrics.TokenAccuracy()
            metric.update_state(labels, logits, weights)
            assert metric.result().numpy() == 0.5


def test_weights_of_sentences():
    metric = ks.metrics.TokenAccuracy()
    logits = np.eye(3)[np.array([[0, 1], [1, 1]])]
    metric.update_state(np.array([[0, 1], [2, 2]]), logits, np.array([3.0, 1.0]))
    assert metric.result().numpy() == 0.75


def test_counts_beyond_what_float32_can():
    metric = ks.metrics.TokenAccuracy()
    metric.count.assign(2.0**24)
    metric.update_state(np.array([[0]]), np.array([[[1.0, 0.0]]]))
    assert float(metric.count) == 2.0**24 + 1


def test_probabilities():
    probabilities = np.array([[[0.25, 0.75], [0.5, 0.5]]])
    metric = ks.metrics.Perplexity(from_logits=False)
    metric.update_state(np.array([[0, 1]]), probabilities)
    np.testing.assert_allclose(metric.result(), np.sqrt(4 * 2), rtol=1e-5)


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16", "float64"])
@pytest.mark.parametrize(
    "make",
    [ks.metrics.TokenAccuracy, ks.metrics.Perplexity],
    ids=lambda make: make.__name__,
)
def test_config(make, policy):
    metric = make(name="mine", dtype=policy)
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    assert type(again) is make and again.get_config() == metric.get_config()
    assert again.result().dtype == ("float64" if policy == "float64" else "float32")


def test_compiled_model_keeps_them(tmp_path):
    trained = model()
    metrics = [ks.metrics.TokenAccuracy(), ks.metrics.Perplexity(from_logits=True)]
    trained.compile("sgd", ks.losses.SmoothedCrossentropy(), weighted_metrics=metrics)
    trained.fit(dataset(), shuffle=False, verbose=0)
    trained.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    logs = [
        m.evaluate(dataset(), return_dict=True, verbose=0) for m in (trained, loaded)
    ]
    assert logs[0] == pytest.approx(logs[1]) and "perplexity" in logs[0]
