"""Tokens that may not be chosen: rules of samples, NaN, limits.

The rules of greedy and beam search are compared with an oracle in test_beam_search.py.
"""

from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.decoding import RelativeLength, Sample
from tests.decoding import oracle
from tests.decoding.fakes import END, MODEL, PAD, START, Speller, TableModel, tables

LIMIT = 9
seeds = st.integers(0, 10**6)


def searches(**options):
    samples = [Sample(n_best=n, seed=5, **options) for n in (4, 1)]
    return [ks.Greedy(**options), ks.BeamSearch(4, n_best=3, **options), *samples]


def kind(search):
    return f"{type(search).__name__}{search.n_best}"


def hypotheses(decoded):
    tokens, lengths = np.concatenate(decoded.tokens), np.ravel(decoded.lengths)
    return [tuple(x[:n]) for x, n in zip(tokens, lengths, strict=True) if n > 0]


RULES = {"min_length": 5, "forbidden_tokens": (4,), "no_repeat_ngram": 2}


@pytest.mark.parametrize("search", searches(**RULES)[2:], ids=kind)
@given(seed=seeds)
def test_rules_of_samples(search, seed):
    source = tables(seed, scale=0.5)
    source["table"][..., [PAD, START, 4]] += 20.0
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    sentences = hypotheses(decoded)
    for tokens in sentences:
        assert len(tokens) >= 5 and not {PAD, START, 4, END} & set(tokens[:4])
        pairs = list(zip(tokens, tokens[1:], strict=False))
        assert len(set(pairs)) == len(pairs)
        assert END not in tokens[:-1]
    assert min(map(len, sentences)) == 5  # the end token counts


def test_nothing_is_left_to_choose():
    """With three words, each at most once, and min_length=8 there is no hypothesis."""
    for search in searches(min_length=8, no_repeat_ngram=1):
        decoded = ks.decode(MODEL, tables(1), search, max_length=LIMIT)
        assert np.isneginf(decoded.scores).all()
        assert np.isneginf(decoded.ranking).all()
        assert not np.any(decoded.lengths) and not np.any(decoded.tokens)
        assert not np.any(decoded.alignments)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@given(seed=seeds)
def test_bad_logits_are_impossible(bad, seed):
    """Others are renormalised; other hypotheses and sentences do not change."""
    source, random = tables(seed), np.random.default_rng(seed)
    at = random.random(source["table"].shape) < 0.25
    at[..., END] = False
    at |= random.random([*at.shape[:2], 1]) < 0.1  # no token is possible there
    at[0] = False
    source["table"][at] = bad
    search = ks.BeamSearch(3, n_best=3)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    oracle.check_all(decoded, search, source, LIMIT)


@pytest.mark.product
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("search", searches(), ids=kind)
def test_sentences_without_a_number(search, bad):
    source = tables(4)
    source["table"][1] = bad
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    assert np.isneginf(decoded.scores[1]).all() and not np.any(decoded.lengths[1])
    assert np.isneginf(decoded.ranking[1]).all() and not np.any(decoded.tokens[1])
    for row in (0, 2):
        assert np.isfinite(decoded.scores[row]).all() and np.all(decoded.lengths[row])


def test_half_precision_logits():
    class Half(TableModel):
        def step(self, tokens, state, memory):
            step = super().step(tokens, state, memory)
            return step._replace(output=tf.cast(step.output, tf.bfloat16))

    source = tables(6)
    source["table"] = tf.cast(tf.cast(source["table"], tf.bfloat16), tf.float32).numpy()
    for search in (ks.Greedy(), ks.BeamSearch(3)):
        one, other = [ks.decode(m, source, search, LIMIT) for m in (Half(), MODEL)]
        np.testing.assert_array_equal(one.tokens, other.tokens)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
        assert one.scores.dtype == tf.float32


SENTENCES = np.array([[3, 4, 5, 6], [7, 8, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0]], "int32")


@pytest.mark.parametrize(
    "limit, lengths",
    [
        (RelativeLength(1.0, plus=0), [4, 2, 1, 1]),
        (RelativeLength(0.5, plus=1), [3, 2, 2, 1]),
        (RelativeLength(0.3, plus=0), [2, 1, 1, 1]),  # rounded up, and 1 at least
        (RelativeLength(2.0, plus=1, at_most=3), [3, 3, 3, 1]),
    ],
    ids=repr,
)
def test_relative_length(limit, lengths):
    """Each sentence has its own limit: |X| counts all tokens but padding."""
    np.testing.assert_array_equal(limit.limits(tf.constant(SENTENCES), PAD), lengths)


@pytest.mark.parametrize("times", [0.1, 0.3, 0.7, 1.1, 1.5, 2.0, 3.3])
def test_relative_lengths_round_up_exactly(times):
    sizes = range(1, 300)
    source = np.array([[5] * n + [0] * (300 - n) for n in sizes])
    limits = RelativeLength(times, plus=0).limits(tf.constant(source), 0)
    exact = [-(-n * Fraction(str(times)) // 1) for n in sizes]
    np.testing.assert_array_equal(limits, [max(int(x), 1) for x in exact])


@pytest.mark.parametrize("search", searches(min_length=9)[:3], ids=kind)
def test_hypotheses_end_at_the_limit_of_their_sentence(search):
    """The maximum wins over the minimum, which forbids the end token."""
    limit = RelativeLength(1.0, plus=0)
    decoded = ks.decode(Speller(), SENTENCES, search, max_length=limit)
    expected = np.repeat([[4], [2], [1], [1]], search.n_best, axis=1)
    np.testing.assert_array_equal(decoded.lengths, expected)
    assert decoded.tokens.shape[-1] == 4
    assert not (decoded.tokens.numpy() == END).any()
