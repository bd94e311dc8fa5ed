"""The candidates are the best tokens that are not forbidden."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding.candidates import find_candidates
from keras_seqattn.decoding.constraints import TokenRules
from keras_seqattn.decoding.hypotheses import Hypotheses
from keras_seqattn.decoding.top_k import chunks_pay
from tests.decoding.fakes import log_probs

VOCABULARY, COUNT = 2000, 3
TOKENS = ks.types.SpecialTokens()
BAD = (np.nan, np.inf)


def best_by_definition(logits, search, t):
    """Return best tokens and log-probabilities: all logits are masked and sorted."""
    scores = log_probs(logits)
    forbidden = [TOKENS.pad, TOKENS.start, *search.forbidden_tokens]
    scores[..., forbidden + [TOKENS.end] * (t + 1 < search.min_length)] = -np.inf
    order = np.where(np.isfinite(scores), logits, -np.inf)  # ties as the model has them
    tokens = np.argsort(-order, axis=-1, kind="stable")[..., :COUNT]
    return tokens, np.take_along_axis(scores, tokens, -1)


def logits_of(kind, shape=(2, 3)):
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
        case "all large":
            logits += 1e4
        case "half forbidden":  # by the model itself
            logits[..., 1000:] = -np.inf
    return logits


KINDS = "ordinary ties forbidden nan infinite nothing large all_large".split()
KINDS.append("half_forbidden")
SEARCHES = [
    ks.Greedy(),
    ks.Greedy(forbidden_tokens=(9, 11)),
    ks.Greedy(min_length=4),  # the end token is forbidden up to t = 2
]


def candidates(logits, search, t):
    now = Hypotheses(*[()] * len(Hypotheses._fields))
    return find_candidates(logits, COUNT, now, t, TokenRules(search, TOKENS, None))


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_best_tokens_that_are_not_forbidden(kind, jit):
    assert chunks_pay(VOCABULARY, COUNT)  # else another path is tested
    logits = logits_of(kind.replace("_", " "))
    for search in SEARCHES:
        function = tf.function(
            lambda x, t, search=search: candidates(x, search, t), jit_compile=jit
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


def test_of_one_hypothesis_for_each_sentence():
    logits = logits_of("ordinary", (4,))
    tokens, expected = best_by_definition(logits, ks.Greedy(), 0)
    received = candidates(tf.constant(logits), ks.Greedy(), 0)
    np.testing.assert_array_equal(received.tokens, tokens)
    np.testing.assert_allclose(received.log_probs, expected, atol=1e-5)
