"""Alignments: numerics, gradients and dtypes; tests/oracles has the equations."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops import align
from tests.oracles import alignment as oracle

MASK = np.array(
    [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0]],
    bool,
)


def scores(*between, scale=1.0):
    random = np.random.default_rng(0)
    return (scale * random.normal(size=(4, *between, 6))).astype("float32")


def assert_close(received, expected, atol=1e-6):
    np.testing.assert_allclose(np.asarray(received), expected, rtol=0, atol=atol)


def masked(probabilities):
    return np.where(MASK, probabilities, 0.0).astype("float32")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_alignments_are_at_least_float32(dtype):
    e = tf.cast(scores(), dtype)
    wide = "float64" if dtype == "float64" else "float32"
    assert align.masked_softmax(e, MASK).dtype == wide
    values = tf.zeros((4, 6, 2), dtype)
    assert align.first_position(values).dtype == wide
    assert align.no_position(values).dtype == wide


def test_masked_softmax_of_nothing_has_no_gradient():
    e = tf.constant(np.where(MASK, scores(), np.inf))
    with tf.GradientTape() as tape:
        tape.watch(e)
        loss = tf.reduce_sum(align.masked_softmax(e, MASK) ** 2)
    gradient = tape.gradient(loss, e)
    assert np.isfinite(gradient).all()
    assert not np.any(np.asarray(gradient)[~MASK])


def recurrence(keep, add):
    q, found = np.zeros(add.shape[:-1]), []
    for s in range(add.shape[-1]):
        q = keep[..., s] * q + add[..., s]
        found.append(q)
    return np.stack(found, axis=-1)


def graph_of(function, jit_compile):
    """With the length of the source unknown."""
    spec = tf.TensorSpec((None, None))
    return tf.function(function, input_signature=[spec, spec], jit_compile=jit_compile)


WAYS = {
    "eager": lambda function: function,
    "graph": lambda function: graph_of(function, jit_compile=False),
    "xla": lambda function: graph_of(function, jit_compile=True),
}


@pytest.mark.parametrize("way", WAYS)
def test_linear_recurrence_of_any_length(way):
    received = WAYS[way](align.linear_recurrence)
    random = np.random.default_rng(7)
    for source in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33):
        keep, add = random.random((2, 3, source)).astype("float32")
        keep[:, 0] = 0.0
        assert_close(received(keep, add), recurrence(keep, add), 1e-5)


def test_linear_recurrence_of_queries():
    keep, add = np.random.default_rng(8).random((2, 2, 3, 4, 5)).astype("float32")
    keep[..., 0] = 0.0
    assert_close(align.linear_recurrence(keep, add), recurrence(keep, add))


def walk(step, p, dtype):
    """50 steps over probabilities [batch, 50, source]."""
    p = p.astype(dtype)
    alignment = oracle.first_position(np.ones(p[:, 0].shape, bool)).astype(dtype)
    for t in range(p.shape[1]):
        alignment = np.asarray(step(p[:, t], alignment))
    return alignment


@pytest.mark.parametrize("bias, certain", [(0.0, False), (-4.0, False), (0.0, True)])
def test_nothing_is_lost_on_long_sources(bias, certain):
    random = np.random.default_rng(9)
    p = oracle.sigmoid(random.normal(size=(2, 50, 200)) + bias)
    if certain:
        p[random.random(p.shape) < 0.1] = 1.0
        p[random.random(p.shape) < 0.3] = 0.0
    expected = walk(oracle.soft_monotonic, p, "float64")
    assert bias < 0.0 or expected.sum() > 1.99
    for wrap in WAYS.values():
        received = walk(wrap(align.monotonic_alignment), p, "float32")
        assert_close(received, expected, 1e-6)


def gradients_of(soft, weights):
    def gradients(p, previous):
        with tf.GradientTape() as tape:
            tape.watch([p, previous])
            loss = tf.reduce_sum(soft(p, previous) * weights)
        return tape.gradient(loss, [p, previous])

    return gradients


def finite_differences(p, previous, weights, step=1e-6):
    """Of the definition, in float64; it is a polynomial, so p may leave [0, 1]."""
    arguments = [p.astype("float64"), previous.astype("float64")]
    found = [np.zeros_like(x) for x in arguments]
    for x, gradient in zip(arguments, found, strict=True):
        for index in np.ndindex(x.shape):
            losses = []
            for sign in (1.0, -1.0):
                kept, x[index] = x[index], x[index] + sign * step
                alignment = oracle.soft_monotonic(*arguments)
                losses.append(np.sum(alignment * weights))
                x[index] = kept
            gradient[index] = (losses[0] - losses[1]) / (2.0 * step)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_monotonic_gradients_are_those_of_the_definition(way):
    random = np.random.default_rng(11)
    p = random.random((2, 40)).astype("float32")
    p[1, 5], p[1, 9], p[1, 10:30] = 1.0, 0.0, 1.0
    previous = random.dirichlet(np.ones(40), size=2).astype("float32")
    weights = random.normal(size=40).astype("float32")
    function = WAYS[way](gradients_of(align.monotonic_alignment, weights))
    received = function(tf.constant(p), tf.constant(previous))
    expected = finite_differences(p, previous, weights)
    for r, e in zip(received, expected, strict=True):
        assert_close(r, e, 1e-5)


def test_both_forms_have_the_same_gradient_on_short_sources():
    p = tf.constant(masked(oracle.sigmoid(scores())))
    previous = tf.constant(oracle.masked_softmax(scores(), MASK).astype("float32"))
    exact, closed = (
        gradients_of(soft, np.arange(6.0, dtype="float32"))(p, previous)
        for soft in (align.monotonic_alignment, align.closed_monotonic_alignment)
    )
    for e, c in zip(exact, closed, strict=True):
        assert_close(e, c, 1e-5)


def test_the_closed_form_clips_as_the_authors_do_and_loses_what_is_documented():
    p = oracle.sigmoid(scores(scale=30.0))
    previous = oracle.masked_softmax(scores(), MASK)
    received = align.closed_monotonic_alignment(masked(p), previous.astype("float32"))
    expected = oracle.parallel_monotonic(p.astype("float32"), previous, MASK)
    assert_close(received, expected, 1e-5)
    half, here = np.full((1, 40), 0.5, "float32"), np.eye(40, dtype="float32")[None]
    kept = align.closed_monotonic_alignment(half, here)[0]
    kept = np.diagonal(kept) / 0.5  # chosen where it stands
    assert_close(kept[:34], np.ones(34), 1e-5)  # the product before it is 2**-33
    assert np.all(kept[34:] < 0.6)
    certain = np.array([[1.0, 0.5]], "float32")
    behind = np.array([[0.0, 1.0]], "float32")
    assert_close(align.closed_monotonic_alignment(certain, behind), [[0.0, 0.0]])
    assert_close(align.monotonic_alignment(certain, behind), [[0.0, 0.5]])


def test_hard_monotonic_goes_on_where_the_choice_is_even():
    choose, first = [[0.5, 0.5, 0.51, 0.9]], np.eye(4, dtype="float32")[:1]
    received = align.hard_monotonic_alignment(np.array(choose, "float32"), first)
    np.testing.assert_array_equal(received, [[0, 0, 1, 0]])
