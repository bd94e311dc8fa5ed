"""Chunks of logits against all logits at once: numbers, gradients, padding, dtypes."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.ops.cross_entropy import cross_entropy
from keras_seqattn.ops.fast import cross_entropy as fast
from keras_seqattn.types import Readout

VOCABULARY, DEPTH = 13, 6
BOUNDS = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 0.03}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(fast, "ROWS", 4)


def example(batch=3, target=5, dtype="float32", transposed=False, bias=True, seed=0):
    """Hidden states, kernel and bias; labels, weights and a mask."""
    rng = np.random.default_rng(seed)
    kernel = (VOCABULARY, DEPTH) if transposed else (DEPTH, VOCABULARY)
    shapes = [(batch, target, DEPTH), kernel, *[(VOCABULARY,)] * bias]
    hidden, *weights = [tf.constant(rng.normal(size=shape)) for shape in shapes]
    exact = "float64" if dtype == "float64" else "float32"
    variables = [tf.cast(hidden, dtype), *[tf.cast(x, exact) for x in weights]]
    labels = rng.integers(VOCABULARY, size=(batch, target))
    given_weights = rng.random((batch, target)).astype(exact)
    return variables, labels, given_weights, rng.random((batch, target)) < 0.6


def reference(variables, labels, weights, mask, smoothing, transposed):
    """All logits, every step of it a line."""
    hidden, kernel, *bias = variables
    dtype, exact = hidden.dtype, kernel.dtype
    with tf.GradientTape() as tape:
        tape.watch(variables)
        logits = tf.matmul(hidden, tf.cast(kernel, dtype), transpose_b=transposed)
        for b in bias:
            logits = logits + tf.cast(b, dtype)
        logits = tf.cast(logits, exact)
        losses = cross_entropy(labels, logits, smoothing)
        total = tf.reduce_sum(tf.where(mask, weights * losses, 0.0))
        scaled = 3.0 * total
    surprise = tf.where(mask, cross_entropy(labels, logits), 0.0)
    right = (np.argmax(logits, axis=-1) == labels) & mask
    return total, surprise, right, tape.gradient(scaled, variables)


def chunked(variables, labels, weights, mask, smoothing, transposed, training=True):
    hidden, kernel, *bias = variables
    with tf.GradientTape() as tape:
        tape.watch(variables)
        of = Readout(hidden, kernel, bias[0] if bias else None, transposed, training)
        token_losses = fast.output_cross_entropy(of, labels, mask, weights, smoothing)
        scaled = 3.0 * token_losses.total
    return *token_losses, tape.gradient(scaled, variables)


def check(received, expected, bound=1e-5):
    """Differences relative to the largest entry; what is right is right."""
    *received, received_gradients = received
    *expected, expected_gradients = expected
    if bound <= 1e-5:
        np.testing.assert_array_equal(received.pop(2), expected.pop(2))
    pairs = zip(
        [*received[:2], *received_gradients],
        [*expected[:2], *expected_gradients],
        strict=True,
    )
    for a, b in pairs:
        assert a.dtype == b.dtype
        a, b = [tf.cast(x, "float64").numpy() for x in (a, b)]
        np.testing.assert_allclose(a, b, rtol=0, atol=bound * max(np.abs(b).max(), 1))


@pytest.mark.parametrize("dtype", BOUNDS)
@given(st.data())
def test_equals_all_logits_at_once(dtype, data):
    """Of any shape and mask."""
    batch, target = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    bias, transposed = data.draw(st.tuples(st.booleans(), st.booleans()))
    *drawn, _ = example(batch, target, dtype, transposed, bias)
    rows = st.lists(st.booleans(), min_size=target, max_size=target)
    mask = np.array(data.draw(st.lists(rows, min_size=batch, max_size=batch)))
    smoothing = data.draw(st.sampled_from([0.0, 0.1, 0.9]))
    how = (*drawn, mask, smoothing, transposed)
    check(chunked(*how), reference(*how), BOUNDS[dtype])


@pytest.fixture(scope="module", params=[False, True], ids=["graph", "xla"])
def compiled(request):
    """Traced once, for batches of any size."""
    batch = [tf.TensorSpec((None, None), x) for x in ("int64", "float32", "bool")]
    shapes = (None, None, DEPTH), (DEPTH, VOCABULARY), (VOCABULARY,)

    @tf.function(
        jit_compile=request.param,
        autograph=False,
        input_signature=[*map(tf.TensorSpec, shapes), *batch],
    )
    def run(hidden, kernel, bias, labels, weights, mask):
        return chunked([hidden, kernel, bias], labels, weights, mask, 0.1, False)

    with mock.patch.object(fast, "ROWS", 4):
        run.get_concrete_function()
    return run


def test_compiled(compiled):
    variables, *batch = example()
    check(compiled(*variables, *batch), reference(variables, *batch, 0.1, False))
    variables, labels, weights, mask = example()
    nothing = compiled(*variables, labels, weights, np.zeros_like(mask))
    for x in tf.nest.flatten(nothing):
        assert not np.any(x)


def test_padding_may_hold_anything(compiled):
    (hidden, *others), labels, weights, mask = example()
    expected = compiled(hidden, *others, labels, weights, mask)
    hidden = tf.where(mask[..., None], hidden, np.nan)
    weights = np.where(mask, weights, np.nan).astype("float32")
    received = compiled(hidden, *others, np.where(mask, labels, -7), weights, mask)
    pairs = zip(tf.nest.flatten(received), tf.nest.flatten(expected), strict=True)
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)


def test_gradients_without_training():
    how = (*example(), 0.1, False)
    run = tf.function(lambda: chunked(*how, training=False), autograph=False)
    check(run(), reference(*how))


def test_large_logits():
    """Only differences matter; nothing overflows."""
    (hidden, kernel, bias), labels, weights, mask = example()
    how = (labels, weights, mask, 0.0, False)
    expected = reference([tf.cast(x, "float64") for x in (hidden, kernel, bias)], *how)
    received = chunked([hidden, kernel, bias + 1e4], *how)
    np.testing.assert_allclose(received[0], expected[0], rtol=1e-3)


def test_the_first_of_equals_is_right():
    """As `argmax` has it; half precision has many equals."""
    labels = np.array([[0, 1]])
    of = Readout(tf.zeros((1, 2, 3)), tf.zeros((3, 5)), None, False, False)
    token_losses = fast.output_cross_entropy(of, labels)
    np.testing.assert_array_equal(token_losses.correct, [[True, False]])


@pytest.mark.parametrize("label", [-1, VOCABULARY])
def test_an_id_that_is_no_token_is_an_error(label):
    variables, labels, weights, mask = example()
    labels, mask = np.full_like(labels, label), np.ones_like(mask)
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        chunked(variables, labels, weights, mask, 0.0, False)


def test_second_derivatives_are_refused():
    variables, labels, weights, mask = example()
    with pytest.raises(LookupError, match="first derivatives only"):
        with tf.GradientTape() as tape:
            tape.watch(variables)
            gradients = chunked(variables, labels, weights, mask, 0.0, False)[-1]
            total = tf.add_n([tf.reduce_sum(x) for x in gradients])
        tape.gradient(total, variables)
