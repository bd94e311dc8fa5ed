"""Published values of attention layers, with the library's public layers.

keras-team/keras v3.15.1, keras/src/layers/attention/*_test.py, and
CyberZHG/keras-self-attention f3bf21d. Those of Keras have keys apart from the values;
here a value projection makes the values out of the keys.
"""

import numpy as np
import pytest

import keras_seqattn as ks

QUERY = np.array([[[1.0, 0.0], [0.0, 1.0]]], dtype="float32")
KEY = np.array([[[0.0, 1.0], [1.0, 0.0]]], dtype="float32")
VALUE = np.array([[[1.0, 2.0], [3.0, 4.0]]], dtype="float32")
FIRST_ONLY = np.array([[True, False]])


def additive():
    """W = U = identity, v = ones: Keras's AdditiveAttention(use_scale=False)."""
    return ks.BahdanauAttention(2, value_units=2)


def dot():
    return ks.LuongAttention("dot", value_units=2)


def attend(attention, **masks):
    """(context, alignment) of the Keras tests."""
    attention.build(QUERY.shape, KEY.shape)
    if isinstance(attention, ks.BahdanauAttention):
        attention.query_projection.kernel.assign(np.eye(2))
        attention.key_projection.kernel.assign(np.eye(2))
        attention.v.assign(np.ones(2))
    # KEY @ (inverse of KEY) @ VALUE is VALUE; KEY swaps two rows, its own inverse.
    attention.value_projection.kernel.assign(KEY[0] @ VALUE[0])
    return attention(QUERY, KEY, return_attention_scores=True, **masks)


@pytest.mark.parametrize(  # test_attention_correctness of both kinds
    ("make", "contexts", "alignment"),
    [
        (additive, [[1.727483, 2.727483], [2.272517, 3.272517]], [0.636258, 0.363742]),
        (dot, [[2.462117, 3.462117], [1.537883, 2.537883]], [0.268941, 0.731059]),
    ],
)
def test_keras_correctness(make, contexts, alignment):
    context, found = attend(make())
    np.testing.assert_allclose(context, [contexts], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found, [[alignment, alignment[::-1]]], rtol=0, atol=1e-6)


@pytest.mark.parametrize("make", [additive, dot])
def test_keras_mask(make):
    # attention_test.test_attention_with_mask: weights [[1, 0], [1, 0]], and the second
    # row of the result is 0. There a masked query keeps its weights, here it has none.
    context, alignment = attend(make(), value_mask=FIRST_ONLY)
    np.testing.assert_array_equal(alignment, [[[1, 0], [1, 0]]])
    np.testing.assert_array_equal(context, VALUE[:, [0, 0]])
    context, alignment = attend(make(), query_mask=FIRST_ONLY, value_mask=FIRST_ONLY)
    np.testing.assert_array_equal(alignment, [[[1, 0], [0, 0]]])
    np.testing.assert_array_equal(context, [[VALUE[0, 0], [0, 0]]])


def test_cyberzhg_scaled_dot():
    # test_sample: row 2 of the output.
    embedding = [[0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.3, 0.4, 0.6, 0.5]]
    embedding += [[0.4, 0.7, 0.2, 0.6, 0.9], [0.3, 0.5, 0.8, 0.9, 0.1]]
    ids = np.array([[1, 2, 3, 1, 0]])
    value = np.array(embedding, "float32")[ids]
    context = ks.LuongAttention("scaled_dot")(value, value, value_mask=ids > 0)
    expected = [0.27883747, 0.45767492, 0.47448885, 0.69199574, 0.47368336]
    np.testing.assert_allclose(context[0, 2], expected, rtol=0, atol=1e-6)
    # Vaswani's attention with W_Q = W_K = W_V = identity is the same.
    projected = ks.layers.ProjectedDotAttention(5, factor=5**-0.5, value_units=5)
    projected.build(value.shape, value.shape)
    for weight in projected.weights:
        weight.assign(np.eye(5))
    same = projected(value, value, value_mask=ids > 0)
    np.testing.assert_allclose(same[0, 2], expected, rtol=0, atol=1e-6)
