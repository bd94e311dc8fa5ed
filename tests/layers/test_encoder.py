"""What holds for every encoder."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.types import Encoded
from tests.layers.encoder_cases import ALL, MASKS, randomize, sequence

MASKED = [mask for mask in MASKS.values() if mask is not None]


def built(make, **kwargs):
    encoder = make(**kwargs)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder


def float32(**kwargs):
    return sequence(**kwargs).astype("float32")


def arrays(encoded):
    return [np.asarray(x) for x in tree.flatten(encoded)]


def poisoned(inputs, mask):
    return np.where(mask[..., None], inputs, np.nan)


@ALL
@pytest.mark.parametrize("mask", MASKED)
def test_padding_may_hold_nan(make, mask):
    encoder, inputs = built(make), float32()
    variables = [v.value for v in encoder.trainable_variables]
    results = []
    for x in (inputs, poisoned(inputs, mask)):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            encoded = encoder(x, mask=mask)
            flat = [encoded.values, *tree.flatten(encoded.state)]
            loss = tf.add_n([tf.reduce_sum(t**2) for t in flat])
        gradients = tape.gradient(loss, [x, *variables])
        results.append([np.asarray(t) for t in [*flat, *gradients]])
        assert not np.any(results[-1][len(flat)][~mask])  # the gradient of the inputs
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


@ALL
def test_nothing_real_gives_zeros(make):
    encoded = built(make)(float32(), mask=MASKS["empty row"])
    for x in arrays(encoded):
        assert not np.any(x[1])


@ALL
def test_without_mask_everything_is_real(make):
    encoder, inputs = built(make), float32()
    plain = encoder(inputs)
    masked = encoder(inputs, mask=np.ones([3, 5], bool))
    assert keras.backend.standardize_dtype(plain.mask.dtype) == "bool"
    assert np.all(plain.mask)
    for a, b in zip(arrays(plain), arrays(masked), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


@ALL
def test_company_and_padding_change_nothing(make):
    encoder, inputs = built(make), float32()
    together = encoder(inputs, mask=MASKS["right-padded"])
    alone = encoder(inputs[:1, :3])
    reduced = alone.values.shape[1]
    for a, b in [
        (together.values[:1, :reduced], alone.values),
        *zip(tree.flatten(together.state), tree.flatten(alone.state), strict=True),
    ]:
        np.testing.assert_allclose(a[:1], b, rtol=0, atol=1e-6)


@ALL
@pytest.mark.parametrize("jit_compile", [False, True])
def test_one_trace_serves_all_sizes(make, jit_compile):
    encoder, traces = built(make), []

    @tf.function(
        jit_compile=jit_compile,
        input_signature=[
            tf.TensorSpec([None, None, 4]),
            tf.TensorSpec([None, None], tf.bool),
        ],
    )
    def call(inputs, mask):
        traces.append(1)
        return tuple(tree.flatten(encoder(inputs, mask=mask)))

    for batch, source in [(3, 5), (1, 4), (2, 1)]:
        inputs = float32(batch=batch, source=source)
        mask = np.arange(source) < np.arange(batch)[:, None]
        expected = arrays(encoder(inputs, mask=mask))
        for a, b in zip(call(inputs, mask), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
    assert len(traces) == 1


@ALL
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_precision(make, policy):
    encoder, exact = built(make, dtype=policy), built(make, dtype="float64")
    encoded = encoder(sequence(), mask=MASKS["empty row"])
    expected = exact(sequence(), mask=MASKS["empty row"])
    floats = [encoded.values, *tree.flatten(encoded.state)]
    wanted = [expected.values, *tree.flatten(expected.state)]
    for x, y in zip(floats, wanted, strict=True):
        assert keras.backend.standardize_dtype(x.dtype) == encoder.compute_dtype
        np.testing.assert_allclose(tf.cast(x, "float64"), y, rtol=0, atol=5e-2)
    assert all(v.dtype == encoder.variable_dtype for v in encoder.trainable_variables)


@ALL
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("shape", [(3, 5, 4), (None, None, 4)])
def test_spec_tells_the_truth(make, cell, shape):
    encoder = make(cell=cell)
    spec = encoder.compute_output_spec(keras.KerasTensor(shape))
    encoded = encoder(float32())
    assert isinstance(spec, Encoded)
    assert encoder.compute_output_shape(shape) == Encoded(
        *tree.map_structure(lambda x: tuple(x.shape), tuple(spec))
    )
    tree.assert_same_structure(spec, encoded)
    for x, s in zip(tree.flatten(encoded), tree.flatten(spec), strict=True):
        assert keras.backend.standardize_dtype(x.dtype) == s.dtype
        assert len(x.shape) == len(s.shape)
        assert all(n in (None, m) for n, m in zip(s.shape, x.shape, strict=True))


def relative_error(encoder, inputs, mask):
    """Of the derivative in a random direction, against finite differences."""
    random, step = np.random.default_rng(2), 1e-5
    variables = encoder.trainable_variables
    points = [inputs, *(np.asarray(v) for v in variables)]
    directions = [random.normal(size=p.shape) for p in points]
    cotangents = None

    def loss(x):
        nonlocal cotangents
        encoded = encoder(x, mask=mask)
        flat = [encoded.values, *tree.flatten(encoded.state)]
        cotangents = cotangents or [random.normal(size=t.shape) for t in flat]
        terms = [tf.reduce_sum(a * b) for a, b in zip(flat, cotangents, strict=True)]
        return tf.add_n(terms)

    x = tf.constant(inputs)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = loss(x)
    gradients = tape.gradient(value, [x, *(v.value for v in variables)])
    errors = []
    for k, (gradient, direction) in enumerate(zip(gradients, directions, strict=True)):
        ends = []
        for sign in (1, -1):
            moved = points[k] + sign * step * direction
            if k:
                variables[k - 1].assign(moved)
                ends.append(float(loss(x)))
                variables[k - 1].assign(points[k])
            else:
                ends.append(float(loss(tf.constant(moved))))
        numeric = (ends[0] - ends[1]) / (2 * step)
        analytic = np.sum(np.asarray(gradient) * direction)
        errors.append(abs(analytic - numeric) / max(1e-3, abs(numeric)))
    return max(errors)


@ALL
@pytest.mark.parametrize("name", ["none", "right-padded", "holes", "empty row"])
def test_gradients_against_finite_differences(make, name):
    encoder = built(make, dtype="float64")
    assert relative_error(encoder, sequence(), MASKS[name]) < 1e-6


@ALL
def test_keras_that_does_not_pass_masks_on(make, monkeypatch):
    # keras 3.16 sets supports_masking = False in RNN.__init__.
    inputs, mask = float32(), MASKS["right-padded"]
    expected = built(make)(inputs, mask=mask)
    init = keras.layers.RNN.__init__

    def init_of_3_16(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self.supports_masking = False

    monkeypatch.setattr(keras.layers.RNN, "__init__", init_of_3_16)
    received = built(make)(inputs, mask=mask)
    for a, b in zip(arrays(received), arrays(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    assert received.values._keras_mask is not None


@ALL
def test_stock_layers_need_not_pass_masks_on(make, monkeypatch):
    inputs, mask = float32(), MASKS["right-padded"]
    encoder = built(make)
    expected = encoder(inputs, mask=mask)
    monkeypatch.setattr(keras.layers.RNN, "compute_mask", lambda *args: None)
    for a, b in zip(arrays(encoder(inputs, mask=mask)), arrays(expected), strict=True):
        np.testing.assert_array_equal(a, b)


@ALL
@pytest.mark.parametrize("cell", ["gru", "LSTMCell", "StackedRNNCells"])
def test_config_round_trip(make, cell):
    if cell == "LSTMCell":
        cell = keras.layers.LSTMCell(3)
    elif cell == "StackedRNNCells":
        cells = [keras.layers.LSTMCell(2), keras.layers.GRUCell(3)]
        cell = keras.layers.StackedRNNCells(cells)
    encoder = make(cell=cell, dropout=0.25, seed=7, name="encoder")
    config = encoder.get_config()
    copy = type(encoder).from_config(config)
    assert copy.get_config() == config == encoder.get_config()
    assert dir(copy) == dir(encoder)
    encoder.build((None, None, 4))
    copy.build((None, None, 4))
    copy.set_weights(encoder.get_weights())
    for a, b in zip(arrays(encoder(float32())), arrays(copy(float32())), strict=True):
        np.testing.assert_array_equal(a, b)


@ALL
def test_all_weights_exist_after_build(make):
    encoder = make(dropout=0.5)
    encoder.build((None, None, 4))
    before = [w.path for w in encoder.weights]
    encoder(float32(), training=True)
    assert [w.path for w in encoder.weights] == before
    assert len({w.path for w in encoder.trainable_weights}) == len(
        encoder.trainable_weights
    )


@ALL
def test_dropout_follows_the_seed_and_training(make):
    def outputs(seed, training):
        encoder = built_with_dropout(make, seed)
        first = arrays(encoder(float32(), training=training))[0]
        second = arrays(encoder(float32(), training=training))[0]
        return first, second

    first, second = outputs(7, True)
    again, _ = outputs(7, True)
    other, _ = outputs(8, True)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, second)
    assert not np.allclose(first, other)
    still, same = outputs(7, False)
    np.testing.assert_array_equal(still, same)


def built_with_dropout(make, seed):
    encoder = make(dropout=0.5, seed=seed)
    encoder.build((None, None, 4))
    for i, w in enumerate(encoder.trainable_weights):
        w.assign(0.5 * np.random.default_rng(i).normal(size=w.shape))
    return encoder


@pytest.mark.parametrize(
    ("shape", "mask", "message"),
    [
        (
            (3, 5),
            None,
            " got a sequence of the wrong rank. Expected "
            "[batch, source, depth], received shape (3, 5). Add or drop an axis, or ",
        ),
        (
            (3, 0, 4),
            None,
            " got inputs without source positions. Expected [batch, source, depth] "
            "with source >= 1, received shape (3, 0, 4). For an empty sentence pass "
            "one padded position and a mask that is False there: values and states are "
            "then zero.",
        ),
        (
            (3, 5, 4),
            np.ones([3, 6], bool),
            " got a mask that does not fit a sequence of shape (3, 5, 4). Expected "
            "[batch, source] = (3, 5), received shape (3, 6). If the mask belongs to ",
        ),
        (
            (3, 5, 4),
            np.ones([3, 5, 1], bool),
            " got a mask that does not fit a sequence of shape (3, 5, 4). "
            "Expected [batch, source] = (3, 5), received shape (3, 5, 1). ",
        ),
        (
            (3, 5, 4),
            np.ones([3, 5], "int32"),
            " got a mask for a sequence that is not boolean. Expected bool, "
            "True = real, received dtype ",
        ),
    ],
)
@ALL
def test_messages_about_inputs(make, shape, mask, message):
    encoder = make()
    for inputs in (np.zeros(shape, "float32"), keras.KerasTensor(shape)):
        with pytest.raises(ValueError) as error:
            encoder(inputs, mask=mask)
        assert type(encoder).__name__ + message in str(error.value)
