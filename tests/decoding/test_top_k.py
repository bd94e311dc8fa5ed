"""`top_k` returns what `tf.math.top_k` returns: values, indices, ties."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.decoding.top_k import CHUNK, top_k

K = 4
FIRST = 4 * K * CHUNK  # from here on chunks pay
PRIME = 1031  # no chunk divides it
SIZES = [5, CHUNK, FIRST - 1, FIRST, FIRST + 1, PRIME, 2000]


def numbers(kind, shape, seed):
    random = np.random.default_rng(seed)
    if kind == "ties":
        return random.integers(0, 3, shape).astype("float32")
    x = random.normal(size=shape).astype("float32")
    if kind == "forbidden":  # most of them, in some rows all
        x[random.random(shape) < 0.99] = -np.inf
        x[..., 0, :] = -np.inf
    return x


FUNCTIONS = {
    "eager": top_k,
    "graph": tf.function(top_k),
    "xla": tf.function(top_k, jit_compile=True),
}


def compare(x, k, function=top_k):
    values, indices = function(tf.constant(x), k)
    expected_values, expected_indices = tf.math.top_k(x, k)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize("size", SIZES)
@given(
    kind=st.sampled_from(["random", "ties", "forbidden"]),
    leading=st.sampled_from([(3,), (2, 3)]),
    seed=st.integers(0, 1000),
)
def test_as_tensorflow(size, kind, leading, seed):
    compare(numbers(kind, (*leading, size), seed), K)


@pytest.mark.parametrize("way", ["graph", "xla"])
@pytest.mark.parametrize("kind", ["random", "ties", "forbidden"])
@pytest.mark.parametrize("shape", [(3, 1500), (2, 3, 1500)], ids=str)
def test_compiled(way, kind, shape):
    compare(numbers(kind, shape, 3), K, FUNCTIONS[way])


@pytest.mark.parametrize("k", [1, 2, 7])
def test_other_k(k):
    compare(numbers("ties", (3, 3000), 1), k)


def test_unknown_batch():
    spec = tf.TensorSpec([None, None, 3000])
    function = tf.function(lambda x: top_k(x, K), input_signature=[spec])
    for batch in (1, 3):
        x = numbers("random", (batch, 2, 3000), batch)
        compare(x, K, lambda x, k: function(x))
    assert function(tf.zeros([2, 2, 3000]))[0].shape == (2, 2, K)
