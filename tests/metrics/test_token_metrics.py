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
    embedding = keras.layers.Embedding(6, 4, mask_zero=True)
    return keras.Sequential([embedding, keras.layers.Dense(6)])


def expected(model, weighted):
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


def compiled(loss=None, **options):
    trained = model()
    loss = loss or keras.losses.SparseCategoricalCrossentropy(True)
    weighted = [ks.metrics.TokenAccuracy(), ks.metrics.Perplexity(), "accuracy"]
    trained.compile("sgd", loss, weighted_metrics=weighted, **options)
    return trained


def evaluated(trained):
    return trained.evaluate(dataset(), return_dict=True, verbose=0)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled(jit_compile):
    """Masks count in both lists, sample weights in `weighted_metrics` only."""
    plain = [ks.metrics.TokenAccuracy("plain"), ks.metrics.Perplexity(name="surprise")]
    trained = compiled(metrics=plain, jit_compile=jit_compile)
    logs = evaluated(trained)
    both = ("plain surprise", False), ("token_accuracy perplexity", True)
    for names, weighted in both:
        found = [logs[name] for name in names.split()]
        np.testing.assert_allclose(found, expected(trained, weighted), rtol=1e-5)
    # Why they exist: Keras's accuracy lets short batches weigh more.
    assert abs(logs["accuracy"] - logs["token_accuracy"]) > 0.01
    assert evaluated(trained) == pytest.approx(logs, rel=1e-5)  # starts anew


def test_keras_knows_which_way_is_better_and_saves_them(tmp_path):
    trained = compiled(ks.losses.SmoothedCrossentropy())
    stops = [keras.callbacks.EarlyStopping(m) for m in ("token_accuracy", "perplexity")]
    trained.fit(dataset(), shuffle=False, verbose=0, callbacks=stops)
    up, down = (stop.monitor_op(2.0, 1.0) for stop in stops)
    assert up and not down
    trained.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert evaluated(loaded) == pytest.approx(evaluated(trained))


def measured(metric, *given):
    metric.update_state(*given)
    return float(metric.result())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_padding_may_hold_nan(dtype):
    logits = np.zeros((2, 3, 4), "float32")
    logits[0, :2, 1] = 20.0
    logits[0, 2:], logits[1] = np.nan, np.nan
    logits = tf.cast(logits, dtype)
    labels = np.array([[1, 2, 0], [0, 0, 0]])
    mask = np.array([[True, True, False], [False] * 3])
    for factor in ("mask", "weights"):
        z = tf.identity(logits)
        if factor == "mask":
            z._keras_mask = tf.convert_to_tensor(mask)
        given = labels, z, mask.astype("float32") if factor == "weights" else None
        assert measured(ks.metrics.TokenAccuracy(), *given) == 0.5
        perplexity = measured(ks.metrics.Perplexity(), *given)
        assert perplexity == pytest.approx(np.exp(10.0), rel=1e-5)


def test_nothing_real():
    logits = tf.zeros((1, 2, 3))
    logits._keras_mask = tf.zeros((1, 2), "bool")
    assert measured(ks.metrics.TokenAccuracy(), np.zeros((1, 2), int), logits) == 0.0
    assert measured(ks.metrics.Perplexity(), np.zeros((1, 2), int), logits) == 1.0


@pytest.mark.parametrize("axes", [(3,), (3, 1)])
def test_single_labels(axes):
    """`[batch, vocabulary]`: Keras gives such labels an axis more."""
    labels, logits = np.reshape([0, 1, 2], axes), np.eye(3)[[0, 1, 1]]
    for weights in (np.array([1.0, 1.0, 2.0]), np.array([[1.0], [1.0], [2.0]])):
        assert measured(ks.metrics.TokenAccuracy(), labels, logits, weights) == 0.5


def test_weights_of_sentences_large_counts_and_probabilities():
    labels, logits = np.array([[0, 1], [2, 2]]), np.eye(3)[np.array([[0, 1], [1, 1]])]
    weights = np.array([3.0, 1.0])
    assert measured(ks.metrics.TokenAccuracy(), labels, logits, weights) == 0.75
    metric = ks.metrics.TokenAccuracy()
    metric.count.assign(2.0**24)
    metric.update_state(np.array([[0]]), np.array([[[1.0, 0.0]]]))
    assert float(metric.count) == 2.0**24 + 1
    given = np.array([[0, 1]]), np.array([[[0.25, 0.75], [0.5, 0.5]]])
    perplexity = measured(ks.metrics.Perplexity(from_logits=False), *given)
    assert perplexity == pytest.approx(np.sqrt(4 * 2), rel=1e-5)


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16", "float64"])
@pytest.mark.parametrize("name", ["TokenAccuracy", "Perplexity"])
def test_config(name, policy):
    make = getattr(ks.metrics, name)
    metric = make(name="mine", dtype=policy)
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    assert type(again) is make and again.get_config() == metric.get_config()
    assert again.result().dtype == ("float64" if policy == "float64" else "float32")
