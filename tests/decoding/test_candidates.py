"""The candidates are the best tokens that are not forbidden, and `top_k` finds them."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.decoding.candidates import (
    CHUNK,
    TokenRules,
    chunks_pay,
    find_candidates,
    top_k,
)
from keras_seqattn.decoding.hypotheses import Hypotheses
from tests.decoding.fakes import log_probs

VOCABULARY, COUNT = 2000, 3
TOKENS = ks.types.SpecialTokens()
BAD = (np.nan, np.inf)


def best_by_definition(logits, search, t):
    scores = log_probs(logits)
    forbidden = [TOKENS.pad, TOKENS.start, *search.forbidden_tokens]
    scores[..., forbidden + [TOKENS.end] * (t + 1 < search.min_length)] = -np.inf
    order = np.where(np.isfinite(scores), logits, -np.inf)  # ties as the model has them
    tokens = np.argsort(-order, axis=-1, kind="stable")[..., :COUNT]
    return tokens, np.take_along_axis(scores, tokens, -1)


def logits_of(kind, shape):
    random = np.random.default_rng(7)
    logits = random.normal(0.0, 2.0, [*shape, VOCABULARY]).astype("float32")
    row = (1,) * len(shape)
    match kind:
        case "ties":
            logits = np.round(logits)
        case "forbidden":  # and elsewhere two of the best three
            logits[..., 0] = 11.0
            logits[(*row, slice(0, 3))] = 12.0, 13.0, 14.0
        case "nan" | "infinite":
            logits[(*row, 700)] = BAD[kind == "infinite"]
        case "nothing":  # in one row
            logits[row] = -np.inf
        case "large":
            logits[(*row, 5)] = 1e4
        case "all_large":
            logits += 1e4
        case "half_forbidden":  # by the model itself
            logits[..., 1000:] = -np.inf
    return logits


KINDS = "ordinary ties forbidden nan infinite nothing large all_large half_forbidden"
SEARCHES = [ks.Greedy(), ks.Greedy(forbidden_tokens=(9, 11))]
SEARCHES += [ks.Greedy(min_length=4)]  # the end token is forbidden up to t = 2


def candidates(logits, search, t):
    now = Hypotheses(*[()] * len(Hypotheses._fields))
    return find_candidates(logits, COUNT, now, t, TokenRules(search, TOKENS, None))


@pytest.mark.parametrize("shape", [(2, 3), (4,)], ids=["beam", "one hypothesis"])
@pytest.mark.parametrize("kind", KINDS.split())
def test_best_tokens_that_are_not_forbidden(kind, shape, jit_compile=False):
    assert chunks_pay(VOCABULARY, COUNT)  # else another path is tested
    logits = logits_of(kind, shape)
    for search in SEARCHES:
        function = tf.function(
            lambda x, t, search=search: candidates(x, search, t),
            jit_compile=jit_compile,
        )
        for t in (2, 3):
            received = function(tf.constant(logits), tf.constant(t))
            tokens, expected = best_by_definition(logits, search, t)
            real = np.isfinite(expected)  # the order of forbidden tokens is free
            np.testing.assert_array_equal(np.isfinite(received.logits), real)
            np.testing.assert_array_equal(received.tokens.numpy()[real], tokens[real])
            # At 1e4, float32 has three digits after the point.
            atol = 2e-3 if "large" in kind else 1e-5
            np.testing.assert_allclose(received.log_probs, expected, 1e-6, atol)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.split())
def test_under_xla(kind):
    test_best_tokens_that_are_not_forbidden(kind, (2, 3), jit_compile=True)


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


def compare(x, k, function=top_k):
    values, indices = function(tf.constant(x), k)
    expected_values, expected_indices = tf.math.top_k(x, k)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize("size", SIZES)
@given(
    kind=st.sampled_from(["random", "ties", "forbidden"]),
    leading=st.sampled_from([(3,), (2, 3)]),
    k=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 1000),
)
def test_as_tensorflow(size, kind, leading, k, seed):
    compare(numbers(kind, (*leading, size), seed), k)


def test_top_k_under_xla_and_more_than_a_chunk_of_ties():
    function = tf.function(top_k, jit_compile=True)
    for kind in ("random", "ties", "forbidden"):
        compare(numbers(kind, (2, 3, 1500), 3), K, function)
    compare(numbers("ties", (3, 3000), 1), 7)


def test_unknown_batch():
    spec = tf.TensorSpec([None, None, 3000])
    function = tf.function(lambda x: top_k(x, K), input_signature=[spec])
    for batch in (1, 3):
        x = numbers("random", (batch, 2, 3000), batch)
        compare(x, K, lambda x, k: function(x))
    assert function(tf.zeros([2, 2, 3000]))[0].shape == (2, 2, K)
