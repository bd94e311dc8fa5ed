"""Masks: True = real, and padding may hold anything."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_seqattn.ops.mask import per_query, row_lengths, zero_padding

MASK = np.array([[1, 1, 0], [0, 0, 0]], bool)


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


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int32"]
)
def test_dtype_stays(dtype):
    values = ops.ones((2, 3, 4), dtype)
    assert keras.backend.standardize_dtype(zero_padding(values, MASK).dtype) == dtype


def test_no_mask_is_no_change():
    values = ops.ones((2, 3, 4))
    assert zero_padding(values, None) is values


@pytest.mark.parametrize(
    "query_rank, expected",
    [(2, (2, 5, 4)), (3, (2, 1, 5, 4)), (4, (2, 1, 1, 5, 4))],
)
def test_keys_for_every_query(query_rank, expected):
    keys = ops.array(np.arange(40.0).reshape(2, 5, 4))
    received = per_query(keys, query_rank)
    assert tuple(received.shape) == expected
    np.testing.assert_array_equal(np.ravel(received), np.arange(40.0))


def test_mask_for_every_query():
    assert tuple(per_query(ops.array(MASK), 4).shape) == (2, 1, 1, 3)


def test_row_lengths():
    values = ops.ones((2, 3, 4), "float16")
    np.testing.assert_array_equal(row_lengths(MASK, values), [2.0, 0.0])
    np.testing.assert_array_equal(row_lengths(None, values), [3.0, 3.0])
    assert row_lengths(MASK, values).dtype == "float32"  # half counts to 2048 only


def test_holes_count_as_padding():
    mask = np.array([[1, 0, 1]], bool)
    np.testing.assert_array_equal(row_lengths(mask, ops.ones((1, 3, 4))), [2.0])
    received = zero_padding(ops.ones((1, 3, 1)), mask)
    np.testing.assert_array_equal(np.ravel(received), [1.0, 0.0, 1.0])


@pytest.mark.parametrize("jit_compile", [False, True])
def test_sizes_unknown_when_traced(jit_compile):
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, 4)),
            tf.TensorSpec((None, None), tf.bool),
        ],
        jit_compile=jit_compile,
    )
    def graph(values, mask):
        zeroed = zero_padding(values, mask)
        return zeroed, per_query(values, 3), row_lengths(mask, values)

    for shape in [(2, 3, 4), (1, 5, 4)]:
        values, mask = np.ones(shape, "float32"), np.ones(shape[:2], bool)
        mask[:, 1:] = False
        zeroed, keys, lengths = graph(values, mask)
        assert float(tf.reduce_sum(zeroed)) == 4 * shape[0]
        assert keys.shape == (shape[0], 1, *shape[1:])
        np.testing.assert_array_equal(lengths, np.ones(shape[0]))
