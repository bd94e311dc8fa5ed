"""A beam that holds all hypotheses returns the same as an exhaustive search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import TableModel, tables

MODEL = TableModel()  # shared by all tests, so that each search is traced once
SEARCHES = {  # name -> search, maximum length; 3 words, so 1 + 3 + 9 + 27 = 40 targets
    "plain": (ks.BeamSearch(40, n_best=40), 3),
    "length": (ks.BeamSearch(40, n_best=40, length_penalty=0.9), 3),
    "negative_length": (ks.BeamSearch(40, n_best=7, length_penalty=-0.5), 3),
    "coverage": (ks.BeamSearch(40, n_best=40, coverage_penalty=0.4), 3),
    "both": (
        ks.BeamSearch(40, n_best=6, length_penalty=1.3, coverage_penalty=0.2),
        3,
    ),
    "two_words": (
        ks.BeamSearch(40, n_best=31, length_penalty=0.6, forbidden_tokens=(4,)),
        4,
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.3, 1.5, 4.0]))
def test_wide_beam_is_exhaustive(name, seed, scale):
    search, limit = SEARCHES[name]
    source = tables(seed, scale=scale)
    decoded = ks.decode(MODEL, source, search, max_length=limit)
    compare(search, limit, source, decoded)


def test_wide_beam_is_exhaustive_with_heads():
    search, limit = SEARCHES["coverage"]
    source = tables(7, heads=2)
    decoded = ks.decode(MODEL, source, search, max_length=limit)
    assert decoded.alignments.shape == (3, 40, 2, 3, 3)  # heads before target
    compare(search, limit, source, decoded)


def compare(search, limit, source, decoded):
    ranks = oracle.Oracle(search)
    for row, (table, look, mask) in enumerate(oracle.sentences(source)):
        every = oracle.everything(table, look, mask, limit, search)
        best = every[: search.n_best]
        rankings = [ranks.ranking(h, mask, limit) for h in best]
        oracle.check(decoded, row, best, rankings)
