"""Tokens that may not be chosen: min_length, words, n-grams, padding, NaN, limits."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import (
    END,
    PAD,
    SOURCE,
    START,
    VOCABULARY,
    Speller,
    TableModel,
    tables,
)

MODEL, SPELLER = TableModel(), Speller()
LIMIT = 9


def searches(**options):
    return [
        ks.Greedy(**options),
        ks.BeamSearch(4, n_best=3, **options),
        ks.decoding.Sample(n_best=4, seed=5, **options),
        ks.decoding.Sample(seed=5, **options),
    ]


def hypotheses(decoded):
    """Return the tokens of all hypotheses, as tuples."""
    tokens, lengths = decoded.tokens.numpy(), decoded.lengths.numpy()
    return [
        tuple(x[:n])
        for x, n in zip(np.concatenate(tokens), lengths.ravel(), strict=True)
        if n > 0
    ]


def kind(search):
    return f"{type(search).__name__}{search.n_best}"


seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("search", searches(min_length=4), ids=kind)
@given(seed=seeds)
def test_min_length(search, seed):
    source = tables(seed)
    source["table"][..., END] += 15.0
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    lengths = [len(x) for x in hypotheses(decoded)]
    assert min(lengths) >= 4 and 4 in lengths  # the end token counts


@pytest.mark.parametrize("search", searches(forbidden_tokens=(3, 5)), ids=kind)
@given(seed=seeds)
def test_forbidden_tokens(search, seed):
    decoded = ks.decode(MODEL, tables(seed), search, max_length=LIMIT)
    assert set(itertools.chain(*hypotheses(decoded))) <= {END, 4}


@pytest.mark.parametrize("search", searches(), ids=kind)
def test_padding_and_start_are_never_chosen(search):
    source = tables(5)
    source["table"][..., [PAD, START]] += 20.0
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    assert not {PAD, START} & set(itertools.chain(*hypotheses(decoded)))
    assert (decoded.scores.numpy() < -10.0).all()  # of the model, not renormalised


@pytest.mark.product
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("search", searches(), ids=kind)
def test_no_ngram_twice(search, n):
    source = tables(n)
    source["table"][..., END] -= 6.0  # long hypotheses
    search = type(search).from_config({**search.get_config(), "no_repeat_ngram": n})
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    sentences = hypotheses(decoded)
    for tokens in sentences:
        grams = [tokens[i : i + n] for i in range(len(tokens) - n + 1)]
        assert len(set(grams)) == len(grams), tokens
    assert max(map(len, sentences)) > n + 1  # there was something to repeat


@given(seed=seeds)
def test_greedy_without_bigrams_is_the_oracles(seed):
    source, options = tables(seed), {"no_repeat_ngram": 2}
    source["table"][..., END] -= 3.0
    decoded = ks.decode(MODEL, source, ks.Greedy(**options), max_length=LIMIT)
    ranks = oracle.Oracle(ks.BeamSearch(1, **options))
    for row, (table, look, mask) in enumerate(oracle.sentences(source)):
        oracle.check(decoded, row, ranks.run(table, look, mask, LIMIT)[0])


def test_nothing_is_left_to_choose():
    """With three words, each at most once, and min_length=8 there is no hypothesis."""
    for search in searches(min_length=8, no_repeat_ngram=1):
        decoded = ks.decode(MODEL, tables(1), search, max_length=LIMIT)
        assert np.isneginf(decoded.scores).all()
        assert np.isneginf(decoded.ranking).all()
        assert not np.any(decoded.lengths) and not np.any(decoded.tokens)
        assert not np.any(decoded.alignments)


# NaN and infinite logits --------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@given(seed=seeds)
def test_bad_logits_are_impossible(bad, seed):
    """Other logits are renormalised, and other sentences do not change."""
    source = tables(seed)
    at = np.random.default_rng(seed).random(source["table"].shape) < 0.25
    at[..., END], at[0] = False, False
    source["table"][at] = bad
    search = ks.BeamSearch(3, n_best=3)
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    ranks = oracle.Oracle(search)
    for row, (table, look, mask) in enumerate(oracle.sentences(source)):
        oracle.check(decoded, row, ranks.run(table, look, mask, LIMIT)[0])


@pytest.mark.product
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("search", searches(), ids=kind)
def test_rows_without_a_number(search, bad):
    """Such rows have no hypothesis: score -inf, length 0; other rows do not change."""
    source = tables(4)
    good = ks.decode(MODEL, source, ks.BeamSearch(4, n_best=3), max_length=LIMIT)
    source["table"][1] = bad
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    assert np.isneginf(decoded.scores[1]).all() and not np.any(decoded.lengths[1])
    assert np.isneginf(decoded.ranking[1]).all() and not np.any(decoded.tokens[1])
    for row in (0, 2):
        assert np.isfinite(decoded.scores[row]).all() and np.all(decoded.lengths[row])
    if isinstance(search, ks.BeamSearch):
        for row in (0, 2):
            np.testing.assert_allclose(decoded.scores[row], good.scores[row], atol=1e-5)


def test_a_hypothesis_that_runs_into_nan_is_dropped():
    """Other hypotheses of its sentence stay."""
    source = tables(4, batch=1)
    table, look, mask = next(iter(oracle.sentences(source)))
    search = ks.BeamSearch(3, n_best=3, min_length=3)
    ranks = oracle.Oracle(search)
    best = ranks.run(table, look, mask, LIMIT)[0][0]
    source["table"][0, best.state] = np.nan  # where it chose its last token
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    assert np.isfinite(decoded.scores).all()
    assert best.tokens not in hypotheses(decoded)
    table, look, mask = next(iter(oracle.sentences(source)))
    oracle.check(decoded, 0, ranks.run(table, look, mask, LIMIT)[0])


def test_half_precision_logits():
    """bfloat16 logits are summed in float32; -65504 and less are finite."""

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


# The limit ----------------------------------------------------------------------------


def spelled(*words):
    size = max(map(len, words))
    return np.array([[*map(int, w), *[PAD] * (size - len(w))] for w in words], "int32")


@pytest.mark.parametrize("search", searches()[:2], ids=kind)
def test_spells_words(search):
    """Tokens and alignments follow the source, end token included."""
    source = spelled("34562", "782", "2")
    decoded = ks.decode(SPELLER, source, search, max_length=20)
    tokens = decoded.tokens.numpy()[:, 0]
    np.testing.assert_array_equal(tokens[:, :5], source)
    np.testing.assert_array_equal(decoded.lengths[:, 0], [5, 3, 1])
    for row, size in enumerate([5, 3, 1]):
        look = decoded.alignments.numpy()[row, 0]
        np.testing.assert_array_equal(look[:size], np.eye(5)[:size])
        assert not look[size:].any()


@pytest.mark.parametrize("search", searches()[:3], ids=kind)
@pytest.mark.parametrize(
    "limit, lengths",
    [
        (ks.decoding.RelativeLength(1.0, plus=0), [4, 2, 1]),
        (ks.decoding.RelativeLength(0.5, plus=1), [3, 2, 2]),
        (
            ks.decoding.RelativeLength(0.3, plus=0),
            [2, 1, 1],
        ),  # rounded up, and 1 at least
        (ks.decoding.RelativeLength(2.0, plus=1, at_most=3), [3, 3, 3]),
    ],
    ids=repr,
)
def test_relative_length(search, limit, lengths):
    """Each sentence has its own limit: |X| counts all tokens but padding."""
    source = spelled("3456", "78", "9")  # no end token: the speller never ends
    options = {**search.get_config(), "forbidden_tokens": []}
    search = type(search).from_config({**options, "min_length": 1})
    decoded = ks.decode(NeverEnding(), source, search, max_length=limit)
    expected = np.repeat(np.array(lengths)[:, None], search.n_best, axis=1)
    np.testing.assert_array_equal(decoded.lengths, expected)
    assert decoded.tokens.shape[-1] == max(lengths)
    assert not (decoded.tokens.numpy() == END).any()


class NeverEnding(Speller):
    def step(self, tokens, state, memory):
        step = super().step(tokens, state, memory)
        never = tf.one_hot(END, self.vocabulary, on_value=-1e4, off_value=0.0)
        return step._replace(output=step.output + never)


def test_limit_of_an_empty_sentence():
    """A source of padding only has a limit of one token, for every factor."""
    source = spelled("345", "")
    limit = ks.decoding.RelativeLength(1.0, plus=0)
    decoded = ks.decode(NeverEnding(), source, ks.Greedy(), max_length=limit)
    np.testing.assert_array_equal(decoded.lengths, [[3], [1]])


@given(seed=seeds)
def test_the_limit_finishes_a_hypothesis(seed):
    """A hypothesis at the limit is finished, but has no end token."""
    source = tables(seed)
    source["table"][..., END] -= 2.0
    search = ks.BeamSearch(3, n_best=3)
    decoded = ks.decode(MODEL, source, search, max_length=2)
    for tokens in hypotheses(decoded):
        assert len(tokens) == 2 or tokens[-1] == END
    assert decoded.alignments.shape == (3, 3, decoded.tokens.shape[-1], SOURCE)
    assert VOCABULARY > decoded.tokens.numpy().max()
