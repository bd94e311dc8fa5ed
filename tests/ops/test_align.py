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


@pytest.mark.parametrize("between", [(), (3,), (2, 3)])
@pytest.mark.parametrize("mask", [None, MASK])
def test_masked_softmax(between, mask):
    e = scores(*between)
    assert_close(align.masked_softmax(e, mask), oracle.masked_softmax(e, mask))


def test_masked_softmax_of_a_mask_for_every_query():
    e = scores(3)
    mask = np.random.default_rng(1).random((4, 3, 6)) < 0.5
    received = align.masked_softmax(e, mask)
    for t in range(3):
        assert_close(received[:, t], oracle.masked_softmax(e[:, t], mask[:, t]))


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


@pytest.mark.parametrize("center", [1.0, 2.5, 6.0, 9.0])
def test_local_windows(center):
    e, center = scores(), np.full(4, center, "float32")
    distances, window = align.position_window(center, 6, 2)
    alignment = align.masked_softmax(e, np.asarray(window) & MASK)
    assert_close(alignment, oracle.local_m(e, center, 2, MASK))
    alignment = alignment * align.gaussian(distances, 2)
    assert_close(alignment, oracle.local_p(e, center, 2, MASK))


def test_predicted_position_stays_inside_the_sentence():
    lengths = np.array([6.0, 3.0, 3.0, 0.0], "float32")
    position = np.random.default_rng(2).normal(size=(4, 5)).astype("float32") * 4
    received = align.predicted_position(lengths, position)
    assert_close(received, lengths[:, None] * oracle.sigmoid(position))
    assert np.all(received <= lengths[:, None])


def first():
    return oracle.first_position(4, 6).astype("float32")


@pytest.mark.parametrize("steps", [1, 3])
def test_monotonic_alignments_are_the_recursion(steps):
    received = closed = expected = first()
    for t in range(steps):
        p = oracle.sigmoid(scores(steps)[:, t])
        received = align.monotonic_alignment(masked(p), received)
        closed = align.parallel_monotonic_alignment(masked(p), closed)
        expected = oracle.soft_monotonic(p, expected, MASK)
    assert_close(received, expected)
    assert_close(closed, expected)


def test_the_closed_form_has_the_gradient_of_the_recursion():
    found = []
    for soft in (align.monotonic_alignment, align.parallel_monotonic_alignment):
        p, previous = (
            tf.constant(masked(oracle.sigmoid(scores()))),
            tf.constant(oracle.masked_softmax(scores(), MASK), "float32"),
        )
        with tf.GradientTape() as tape:
            tape.watch([p, previous])
            loss = tf.reduce_sum(soft(p, previous) * tf.range(6.0))
        found.append(tape.gradient(loss, [p, previous]))
    for definition, closed in zip(*found, strict=True):
        assert_close(closed, definition, 1e-5)


def test_the_closed_form_clips_as_the_authors_do():
    p = oracle.sigmoid(scores(scale=30.0))
    previous = oracle.masked_softmax(scores(), MASK)
    received = align.parallel_monotonic_alignment(masked(p), previous.astype("float32"))
    expected = oracle.parallel_monotonic(p.astype("float32"), previous, MASK)
    assert_close(received, expected, 1e-5)


def test_hard_monotonic_is_the_process_itself():
    random = np.random.default_rng(3)
    received = expected = first()
    for _ in range(5):
        p = random.random((4, 6))
        received = align.hard_monotonic_alignment(masked(p), received)
        expected = oracle.hard_monotonic(p, expected, MASK)
        np.testing.assert_array_equal(received, expected)


def test_soft_is_hard_where_the_choice_is_certain():
    p = (np.random.default_rng(4).random((4, 6)) < 0.4).astype("float32") * MASK
    hard = align.hard_monotonic_alignment(p, first())
    np.testing.assert_array_equal(align.monotonic_alignment(p, first()), hard)


def test_coverage_and_contexts():
    alignment, coverage = oracle.masked_softmax(scores(), MASK), np.ones((4, 6))
    updated = align.coverage_update(coverage.astype("float32"), alignment)
    assert_close(updated, oracle.coverage_update(coverage, alignment))

    random = np.random.default_rng(6)
    alignment = random.normal(size=(4, 2, 3, 6)).astype("float32")
    values = random.normal(size=(4, 6, 2, 5)).astype("float32")
    heads = align.multi_head_context(alignment, values)
    assert heads.shape == (4, 3, 2, 5)
    for h in range(2):
        single = align.context_vector(alignment[:, h], values[:, :, h])
        assert_close(heads[:, :, h], np.asarray(single))
        assert_close(single, alignment[:, h] @ values[:, :, h])
