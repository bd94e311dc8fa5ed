"""Samples have the right distribution, and are the same for equal seeds."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.decoding.sampling import keep_top_k, keep_top_p
from tests.decoding.fakes import (
    END,
    START,
    STATES,
    VOCABULARY,
    TableModel,
    after,
    log_probs,
    tables,
)

MODEL, MANY, LIMIT = TableModel(), 4000, 6


def same_sentence(count, seed=1):
    """Return a source with `count` equal sentences."""
    one = tables(seed, batch=1)
    return {name: np.repeat(x, count, axis=0) for name, x in one.items()}


def first_tokens(search, source):
    return ks.decode(MODEL, source, search, max_length=1).tokens.numpy()[:, :, 0]


def expected_distribution(source, temperature=1.0):
    """Return the distribution of the first token, without padding and start."""
    logits = source["table"][0, after(0, START)] / temperature
    logits[[0, 1]] = -np.inf
    return np.exp(log_probs(logits))


def check_distribution(tokens, expected):
    """Check that all counts are within 4.5 standard deviations.

    This fails by chance once in ten thousand times.
    """
    counts = np.bincount(tokens.ravel(), minlength=VOCABULARY)
    n = tokens.size
    deviation = np.sqrt(n * expected * (1 - expected)) + 1e-9
    assert (np.abs(counts - n * expected) < 4.5 * deviation).all(), (counts, expected)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_distribution(temperature):
    source = same_sentence(MANY)
    search = ks.decoding.Sample(temperature=temperature, seed=3)
    expected = expected_distribution(source, temperature)
    check_distribution(first_tokens(search, source), expected)


def test_samples_of_a_sentence_are_independent():
    source = same_sentence(MANY // 4)
    tokens = first_tokens(ks.decoding.Sample(n_best=4, seed=4), source)
    expected = expected_distribution(source)
    for place in range(4):
        check_distribution(tokens[:, place], expected)
    pairs = VOCABULARY * tokens[:, 0] + tokens[:, 1]
    both = np.outer(expected, expected).ravel()
    counts = np.bincount(pairs, minlength=VOCABULARY**2)
    deviation = np.sqrt(len(pairs) * both * (1 - both)) + 1e-9
    assert (np.abs(counts - len(pairs) * both) < 4.5 * deviation).all()


def test_each_step_draws_new_numbers():
    source = same_sentence(MANY // 2)
    source["table"][...] = 0.0
    source["table"][..., END] = -50.0
    search = ks.decoding.Sample(seed=5)
    tokens = ks.decode(MODEL, source, search, max_length=2).tokens.numpy()[:, 0]
    third = np.where(np.arange(VOCABULARY) >= 3, 1 / 3, 0.0)
    check_distribution(tokens[:, 0], third)
    for word in (3, 4, 5):
        check_distribution(tokens[tokens[:, 0] == word, 1], third)


def test_top_k_never_leaves_the_set():
    source = tables(2, batch=64)
    search = ks.decoding.Sample(top_k=2, n_best=3, seed=1)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    for best, step_logits in chosen(source, decoded):
        allowed = np.sort(step_logits[2:])[-2]  # of allowed tokens
        assert step_logits[best] >= allowed


@pytest.mark.parametrize("p", [0.3, 0.7])
def test_top_p_never_leaves_the_set(p):
    source = tables(3, batch=64)
    search = ks.decoding.Sample(top_p=p, n_best=3, seed=1)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    for best, step_logits in chosen(source, decoded):
        probabilities = np.exp(log_probs(step_logits[2:]))
        better = probabilities[probabilities > probabilities[best - 2]].sum()
        assert better < p + 1e-5


def chosen(source, decoded):
    """Yield each chosen token and the logits of its step."""
    for row, table in enumerate(source["table"]):
        for tokens, length in zip(
            decoded.tokens.numpy()[row], decoded.lengths.numpy()[row], strict=True
        ):
            state, last = 0, START
            for token in tokens[:length]:
                state, last = after(state, last, STATES), token
                yield token, table[state]


@given(seed=st.integers(0, 1000), k=st.integers(1, 9))
def test_keep_top_k(seed, k):
    logits = np.random.default_rng(seed).normal(size=[3, 7]).astype("float32")
    kept = np.isfinite(keep_top_k(logits, k))
    assert (kept.sum(axis=-1) == min(k, 7)).all()
    lowest_kept = np.where(kept, logits, np.inf).min(axis=-1)
    highest_dropped = np.where(kept, -np.inf, logits).max(axis=-1)
    assert (lowest_kept > highest_dropped).all()


def test_keep_ties():
    """Tokens equal to the last of the k are kept, too."""
    logits = np.array([[2.0, 1.0, 1.0, 0.0]], "float32")
    np.testing.assert_array_equal(
        np.isfinite(keep_top_k(logits, 2)), [[True, True, True, False]]
    )


@given(seed=st.integers(0, 1000), p=st.floats(0.05, 1.0))
def test_keep_top_p(seed, p):
    """The smallest set of tokens that together reach p is kept."""
    logits = np.random.default_rng(seed).normal(size=[4, 7]).astype("float32")
    kept = np.isfinite(keep_top_p(logits, p))
    for row, probabilities in zip(kept, np.exp(log_probs(logits)), strict=True):
        ordered = np.sort(probabilities)[::-1]
        sums = np.cumsum(ordered)
        if np.abs(sums - p).min() < 1e-5:
            continue  # rounding decides on which side of p they are
        assert row.sum() == min(1 + (sums < p).sum(), 7)
        assert probabilities[row].min() >= ordered[row.sum() - 1]


def test_keep_top_p_with_forbidden_tokens():
    logits = np.array([[-np.inf, 1.0, -np.inf, 0.9]], "float32")
    for p, expected in ((0.2, [False, True, False, False]), (1.0, None)):
        kept = np.isfinite(keep_top_p(logits, p))[0].tolist()
        assert kept == (expected or [False, True, False, True])


def test_one_token_of_top_k_is_greedy():
    source = tables(6)
    greedy = ks.decode(MODEL, source, ks.Greedy(), max_length=LIMIT)
    for search in (
        ks.decoding.Sample(top_k=1),
        ks.decoding.Sample(top_p=1e-6),
        ks.decoding.Sample(1e-4),
    ):
        sampled = ks.decode(MODEL, source, search, max_length=LIMIT)
        np.testing.assert_array_equal(greedy.tokens, sampled.tokens)
        np.testing.assert_allclose(greedy.scores, sampled.scores, atol=1e-5)


def test_seeds():
    source = tables(7, batch=32)
    one, same, other = [
        ks.decode(MODEL, source, ks.decoding.Sample(seed=seed), LIMIT)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(one.tokens, same.tokens)
    assert not np.array_equal(one.lengths, other.lengths)


def test_without_a_seed_every_call_draws_new_numbers():
    source = tables(8, batch=32)
    search = ks.decoding.Sample()
    lengths = [ks.decode(MODEL, source, search, LIMIT).lengths for _ in range(2)]
    assert not np.array_equal(*lengths)


def test_in_a_function_without_a_seed():
    """The graph does not freeze the first draw."""
    source = {k: tf.constant(v) for k, v in tables(8, batch=32).items()}
    draw = tf.function(
        lambda: ks.decode(MODEL, source, ks.decoding.Sample(), LIMIT).lengths
    )
    assert not np.array_equal(draw(), draw())


def test_scores_are_the_models():
    """Scores have temperature 1 and no truncation; samples are not sorted."""
    source = tables(9, batch=16)
    search = ks.decoding.Sample(0.5, top_k=2, n_best=3, seed=9)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    expected = np.zeros([16, 3])
    for row, table in enumerate(source["table"]):
        for place, tokens in enumerate(decoded.tokens.numpy()[row]):
            state, last = 0, START
            for token in tokens[: decoded.lengths[row, place]]:
                state, last = after(state, last), token
                expected[row, place] += log_probs(table[state])[token]
    np.testing.assert_allclose(decoded.scores, expected, atol=1e-4)
    np.testing.assert_array_equal(decoded.ranking, decoded.scores)
    assert (np.diff(decoded.scores) > 0).any()
