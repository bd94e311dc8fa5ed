"""Masks: True = real, and padding may hold anything; keys that differ by query."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_seqattn.ops import score
from keras_seqattn.ops.mask import per_query, row_lengths, row_positions, zero_padding

MASK = np.array([[1, 0, 1], [0, 0, 0]], bool)


@pytest.mark.parametrize("filler", [7.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("depth", [(), (4,), (4, 5)])
def test_padding_becomes_zero_whatever_it_holds(depth, filler):
    values = np.random.default_rng(0).normal(size=(2, 3, *depth)).astype("float32")
    padded = values.copy()
    padded[~MASK] = filler
    received = zero_padding(ops.array(padded), MASK)
    np.testing.assert_array_equal(received[MASK], values[MASK])
    assert not np.any(np.asarray(received)[~MASK])


def test_padding_has_no_gradient():
    """Zero, and not NaN: `where` and not a product."""
    values = tf.constant(np.where(MASK[..., None], 2.0, np.nan))
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = tf.reduce_sum(tf.square(zero_padding(values, MASK)))
    expected = np.where(MASK[..., None], 4.0, 0.0)
    np.testing.assert_array_equal(tape.gradient(total, values), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
def test_dtype_stays(dtype):
    assert zero_padding(ops.ones((2, 3, 4), dtype), MASK).dtype == dtype


def test_no_mask_is_no_change():
    values = ops.ones((2, 3, 4))
    assert zero_padding(values, None) is values


@pytest.mark.parametrize(
    "query_rank, expected", [(2, (2, 5, 4)), (3, (2, 1, 5, 4)), (4, (2, 1, 1, 5, 4))]
)
def test_keys_for_every_query(query_rank, expected):
    keys = ops.array(np.arange(40.0).reshape(2, 5, 4))
    received = per_query(keys, query_rank)
    assert tuple(received.shape) == expected
    np.testing.assert_array_equal(np.ravel(received), np.arange(40.0))


def test_row_lengths_and_positions():
    values = ops.ones((2, 3, 4), "float16")
    np.testing.assert_array_equal(row_lengths(MASK, values), [2.0, 0.0])
    np.testing.assert_array_equal(row_lengths(None, values), [3.0, 3.0])
    assert row_lengths(MASK, values).dtype == "float32"  # half counts to 2048 only
    mask = np.array([[0, 1, 1], [1, 0, 1]], bool)
    positions = row_positions(mask, mask)
    np.testing.assert_array_equal(np.where(mask, positions, 0), [[0, 1, 2], [1, 0, 2]])
    np.testing.assert_array_equal(row_positions(None, mask), [[1, 2, 3]] * 2)


def test_additive_with_keys_for_every_query():
    random = np.random.default_rng(0)
    shapes = (2, 3, 8), (2, 3, 5, 8), (8,)
    query, keys, v = (random.normal(size=shape).astype("float32") for shape in shapes)
    received = score.additive_score(query, keys, v)
    for t in range(3):
        single = score.additive_score(query[:, t], keys[:, t], v)
        np.testing.assert_allclose(received[:, t], single, rtol=1e-5, atol=1e-5)
