"""Chunks of logits against all logits at once: numbers, gradients, padding, dtypes."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
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
@pytest.mark.parametrize("transposed", [False, True])
def test_equals_all_logits_at_once(transposed, dtype):
    variables, labels, weights, mask = example(dtype=dtype, transposed=transposed)
    how = (variables, labels, weights, mask, 0.1, transposed)
    check(chunked(*how), reference(*how), BOUNDS[dtype])


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_shape_and_mask(data):
    batch, target = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    bias = data.draw(st.booleans())
    variables, labels, weights, _ = example(batch, target, "float64", bias=bias)
    rows = st.lists(st.booleans(), min_size=target, max_size=target)
    mask = np.array(data.draw(st.lists(rows, min_size=batch, max_size=batch)))
    smoothing = data.draw(st.sampled_from([0.0, 0.1, 0.9]))
    how = (variables, labels, weights, mask, smoothing, False)
    check(chunked(*how), reference(*how), BOUNDS["float64"])


@pytest.mark.parametrize("training", [True, False], ids=["", "not training"])
@pytest.mark.parametrize("jit", [False, True], ids=["graph", "xla"])
def test_compiled(jit, training):
    """Unknown static sizes; gradients without training=True."""
    variables, labels, weights, mask = example()
    compiled = tf.function(
        lambda *v: chunked(list(v), labels, weights, mask, 0.1, False, training),
        jit_compile=jit,
        autograph=False,
        input_signature=[
            tf.TensorSpec((None, None, DEPTH)),
            *[tf.TensorSpec(v.shape) for v in variables[1:]],
        ],
    )
    expected = reference(variables, labels, weights, mask, 0.1, False)
    check(compiled(*variables), expected)


def test_without_mask_and_weights():
    variables, labels, weights, mask = example()
    everything, ones = np.ones_like(mask), np.ones_like(weights)
    expected = reference(variables, labels, ones, everything, 0.0, False)
    check(chunked(variables, labels, None, None, 0.0, False), expected)


@pytest.mark.parametrize("jit", [False, True], ids=["graph", "xla"])
def test_nothing_real(jit):
    variables, labels, weights, mask = example()
    run = tf.function(
        lambda: chunked(variables, labels, weights, np.zeros_like(mask), 0.1, False),
        jit_compile=jit,
        autograph=False,
    )
    for x in tf.nest.flatten(run()):
        assert not np.any(x)


@pytest.mark.parametrize("jit", [False, True], ids=["graph", "xla"])
def test_padding_may_hold_anything(jit):
    (hidden, *others), labels, weights, mask = example()

    @tf.function(jit_compile=jit, autograph=False)
    def run(hidden, labels, weights):
        return chunked([hidden, *others], labels, weights, mask, 0.1, False)

    expected = run(hidden, labels, weights)
    hidden = tf.where(mask[..., None], hidden, np.nan)
    weights, labels = np.where(mask, weights, np.nan), np.where(mask, labels, -7)
    received = run(hidden, labels, weights.astype("float32"))
    pairs = zip(tf.nest.flatten(received), tf.nest.flatten(expected), strict=True)
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)


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
