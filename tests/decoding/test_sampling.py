"""Samples have the right distribution, and are the same for equal seeds."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import Sample
from keras_seqattn.decoding.sampling import keep_top_k
from tests.decoding import fakes
from tests.decoding.fakes import END, MODEL, START, VOCABULARY, after, log_probs, tables
from tests.decoding.results import assert_same

MANY, LIMIT = 4000, 6


def same_sentence(count, seed=1):
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
    """All counts are within 4.5 deviations, but once in ten thousand times."""
    counts, n = np.bincount(tokens.ravel(), minlength=expected.size), tokens.size
    deviation = np.sqrt(n * expected * (1 - expected)) + 1e-9
    assert (np.abs(counts - n * expected) < 4.5 * deviation).all(), (counts, expected)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_distribution(temperature):
    source = same_sentence(MANY)
    search = Sample(temperature=temperature, seed=3)
    expected = expected_distribution(source, temperature)
    check_distribution(first_tokens(search, source), expected)


def test_samples_of_a_sentence_are_independent():
    source = same_sentence(MANY // 4)
    tokens = first_tokens(Sample(n_best=4, seed=4), source)
    expected = expected_distribution(source)
    for place in range(4):
        check_distribution(tokens[:, place], expected)
    pairs = VOCABULARY * tokens[:, 0] + tokens[:, 1]
    check_distribution(pairs, np.outer(expected, expected).ravel())


def test_each_step_draws_new_numbers():
    source = same_sentence(MANY // 2)
    source["table"][...] = 0.0
    source["table"][..., END] = -50.0
    search = Sample(seed=5)
    tokens = ks.decode(MODEL, source, search, max_length=2).tokens.numpy()[:, 0]
    third = np.where(np.arange(VOCABULARY) >= 3, 1 / 3, 0.0)
    check_distribution(tokens[:, 0], third)
    for word in (3, 4, 5):
        check_distribution(tokens[tokens[:, 0] == word, 1], third)


OPTIONS = [{"top_k": 2}, {"top_p": 0.5}, {"top_k": 9, "top_p": 0.9}]


@pytest.mark.parametrize("options", OPTIONS)
def test_truncated_distribution(options):
    source = same_sentence(MANY)
    expected = expected_distribution(source)
    order = np.argsort(-expected)
    before = np.cumsum(expected[order]) - expected[order]
    kept = np.arange(VOCABULARY) < options.get("top_k", VOCABULARY)
    kept &= before < options.get("top_p", 1.0)
    assert 0 < kept.sum() < 4  # of the four words that are possible
    expected[order[~kept]] = 0.0
    tokens = first_tokens(Sample(seed=3, **options), source)
    check_distribution(tokens, expected / expected.sum())


def test_keep_ties():
    logits = np.array([[2.0, 1.0, 1.0, 0.0]], "float32")
    assert np.isfinite(keep_top_k(logits, 2)).tolist() == [[True, True, True, False]]


@pytest.mark.parametrize(
    "options", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-4}], ids=str
)
def test_one_token_is_greedy(options):
    """Forbidden tokens are not among those that are kept."""
    source = tables(6)
    greedy = ks.decode(MODEL, source, ks.Greedy(), max_length=LIMIT)
    assert_same(ks.decode(MODEL, source, Sample(**options), max_length=LIMIT), greedy)


def test_seeds():
    """Equal seeds draw equal samples; all seeds share one graph."""
    source, model = tables(7, batch=32), fakes.Counting()
    searches = [Sample(n_best=4, seed=seed) for seed in (1, 2, 1, 2**40)]
    one, other, same, _ = (ks.decode(model, source, x, LIMIT) for x in searches)
    np.testing.assert_array_equal(one.tokens, same.tokens)
    assert not np.array_equal(one.lengths, other.lengths)
    assert model.traces == 1


def test_without_a_seed_every_call_draws_new_numbers_in_a_function_too():
    source = tables(8, batch=32)
    lengths = [ks.decode(MODEL, source, Sample(), LIMIT).lengths for _ in range(2)]
    assert not np.array_equal(*lengths)
    # The graph does not freeze the first draw.
    source = {k: tf.constant(v) for k, v in tables(8, batch=32).items()}
    draw = tf.function(lambda: ks.decode(MODEL, source, Sample(), LIMIT).lengths)
    assert not np.array_equal(draw(), draw())


def test_scores_are_the_models():
    """Scores have temperature 1 and no truncation; samples are not sorted."""
    source = tables(9, batch=16)
    search = Sample(0.5, top_k=2, n_best=3, seed=9)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    logs, expected = log_probs(source["table"]), np.zeros([16, 3])
    for row, place in np.ndindex(16, 3):
        state, last = 0, START
        for token in decoded.tokens.numpy()[row, place, : decoded.lengths[row, place]]:
            state, last = after(state, last), token
            expected[row, place] += logs[row, state, token]
    np.testing.assert_allclose(decoded.scores, expected, atol=1e-4)
    np.testing.assert_array_equal(decoded.ranking, decoded.scores)
    assert (np.diff(decoded.scores) > 0).any()
