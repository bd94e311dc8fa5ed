"""Beam search and greedy search compared with an oracle in Python, for all options."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import END, MODEL, VOCABULARY, TableModel, after, tables

LIMIT = 7
SEARCHES = {
    "greedy": ks.Greedy(),
    "greedy_rules": ks.Greedy(min_length=3, forbidden_tokens=[4], no_repeat_ngram=2),
    "narrow": ks.BeamSearch(2, n_best=1),
    "coverage": ks.BeamSearch(3, n_best=3, length_penalty=0.6, coverage_penalty=0.3),
    "late": ks.BeamSearch(3, n_best=2, min_length=4, length_penalty=2.0),
    "forbidden": ks.BeamSearch(3, n_best=3, forbidden_tokens=[3], use_early_stop=False),
    "words_once": ks.BeamSearch(4, n_best=2, no_repeat_ngram=1),
    "wider_than_the_vocabulary": ks.BeamSearch(9, n_best=9, length_penalty=0.6),
}
PENALTIES = {"length_penalty": 1.2, "coverage_penalty": 0.1}
RULES = {"min_length": 3, "forbidden_tokens": [5], "no_repeat_ngram": 3}
SEARCHES["everything"] = ks.BeamSearch(5, n_best=3, **PENALTIES, **RULES)
PENALTIES = {"length_penalty": -0.7, "coverage_penalty": 0.2}
SEARCHES["negative_length"] = ks.BeamSearch(4, n_best=3, **PENALTIES)
scales = st.sampled_from([0.3, 1.5, 4.0])
sources = st.builds(tables, st.integers(0, 10**6), scale=scales)


def compare(search, source, prefix=None):
    decoded = ks.decode(MODEL, source, search, LIMIT, prefix=prefix)
    if isinstance(search, ks.Greedy):  # a beam of one hypothesis
        search = ks.BeamSearch(1, **search.get_config())
    oracle.check_all(decoded, search, source, LIMIT, prefix)


@pytest.mark.parametrize("name", SEARCHES)
@given(source=sources)
def test_search_is_the_oracles(name, source):
    compare(SEARCHES[name], source)


@pytest.mark.parametrize("name", ["greedy", "coverage", "everything"])
@given(source=sources, lengths=st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_prefix(name, source, lengths):
    """Its tokens count in the score, and may be those that are forbidden."""
    words = np.random.default_rng(sum(lengths)).integers(3, VOCABULARY, (3, 3))
    prefix = words * (np.arange(3) < np.array(lengths)[:, None])
    compare(SEARCHES[name], source, prefix)


# Wide enough for all targets: 3 words, so 1 + 3 + 9 + 27 = 40.
WIDE = {
    "length": (ks.BeamSearch(40, n_best=40, length_penalty=0.9), 3),
    "negative_length": (ks.BeamSearch(40, n_best=7, length_penalty=-0.5), 3),
    "both": (ks.BeamSearch(40, n_best=6, length_penalty=1.3, coverage_penalty=0.2), 3),
    "two_words": (ks.BeamSearch(40, n_best=31, forbidden_tokens=(4,)), 4),
}


def check_exhaustive(search, limit, source):
    decoded = ks.decode(MODEL, source, search, limit)
    ranks = oracle.Oracle(search)
    for row, (table, look, mask) in enumerate(oracle.sentences(source)):
        every = oracle.everything(table, look, mask, limit, search)
        best = every[: search.n_best]
        rankings = [ranks.ranking(h, mask, limit) for h in best]
        oracle.check(decoded, row, best, rankings)
    return decoded


@pytest.mark.parametrize("name", WIDE)
@given(source=sources)
def test_a_wide_beam_is_exhaustive(name, source):
    check_exhaustive(*WIDE[name], source)


def test_a_wide_beam_is_exhaustive_with_heads():
    search = ks.BeamSearch(40, n_best=40, coverage_penalty=0.4)
    decoded = check_exhaustive(search, 3, tables(7, heads=2))
    assert decoded.alignments.shape == (3, 40, 2, 3, 3)  # heads before target


def test_early_stop_stops_early():
    """The best is certain after one step, though other hypotheses are open."""
    source = tables(1)
    source["table"][:, :, END] = 30.0

    class Counting(TableModel):
        def __init__(self):
            self.steps = tf.Variable(0)

        def step(self, tokens, state, memory):
            self.steps.assign_add(1)
            return super().step(tokens, state, memory)

    counting, steps = Counting(), []
    for use in (True, False):
        search = ks.BeamSearch(4, use_early_stop=use)
        counting.steps.assign(0)
        ks.decode(counting, source, search, max_length=50)
        steps.append(int(counting.steps))
    assert steps == [1, 2]


def test_ties_fall_to_the_lower_place_and_id():
    """All words are equally probable: the place in the beam decides, then the id."""
    source = tables(2)
    source["table"][:] = 0.0
    decoded = ks.decode(MODEL, source, ks.BeamSearch(4, n_best=4), max_length=2)
    expected = [[END, 0], [3, END], [3, 3], [3, 4]]
    np.testing.assert_array_equal(decoded.tokens, [expected] * 3)
    greedy = ks.decode(MODEL, source, ks.Greedy(min_length=2), max_length=2)
    np.testing.assert_array_equal(greedy.tokens, [[[3, END]]] * 3)


# Errors of other libraries, each an oracle with one broken method: it must find
# something else on the same sentences, and we must not.


class EndExcluded(oracle.Oracle):
    """TFA: the length lacks the end token in its own step, not in the next one."""

    def counted(self, h, t):
        new = h.parent is not None and h.parent.length < h.length
        return h.length - (new and h.tokens[-1] == END)


class StepAsLength(oracle.Oracle):
    """ONMT #456, #457: the number of the step replaces the lengths of hypotheses."""

    def counted(self, h, t):
        return t + 1


class OthersLogProb(oracle.Oracle):
    """ONMT: a finished hypothesis gets the log-probability of its place."""

    def chosen(self, candidates, before):
        beam = super().chosen(candidates, before)
        return [
            h._replace(log_prob=before[place].log_prob)
            if h.parent.finished and place < len(before)
            else h
            for place, h in enumerate(beam)
        ]


class AddsAfterTheEnd(oracle.Oracle):
    """KH: log-probabilities of tokens after the end token are added, too."""

    def kept(self, h, log_prob):
        following = log_prob[after(h.state, END)].max()
        return h._replace(parent=h, log_prob=h.log_prob + following)


class CoverageOfFinished(oracle.Oracle):
    """TFA #859: only finished hypotheses have a coverage penalty."""

    def covered(self, h, mask):
        return super().covered(h, mask) if h.finished else 0.0


class PenaltiesAtTheEnd(oracle.Oracle):
    """The beam is chosen by log-probability; penalties only sort the final beam."""

    def ranking(self, h, mask, t):
        return super().ranking(h, mask, t) if t == LIMIT else h.log_prob


DEFECTS = {
    EndExcluded: ks.BeamSearch(2, n_best=2, length_penalty=1.0),
    StepAsLength: ks.BeamSearch(3, n_best=3, length_penalty=1.5),
    OthersLogProb: ks.BeamSearch(3, n_best=3),
    AddsAfterTheEnd: ks.BeamSearch(3, n_best=3),
    CoverageOfFinished: ks.BeamSearch(3, n_best=3, coverage_penalty=0.6),
    PenaltiesAtTheEnd: ks.BeamSearch(2, n_best=2, length_penalty=2.0),
}


def best(rule, table, look, mask):
    beam, _ = rule.run(table, look, mask, LIMIT)
    beam = sorted(beam, key=lambda h: -rule.ranking(h, mask, LIMIT))
    return beam[: rule.search.n_best]


@pytest.mark.parametrize("rule", DEFECTS, ids=lambda rule: rule.__name__)
def test_no_defect_of_a_peer(rule):
    source, search = tables(0, batch=8, scale=0.6), DEFECTS[rule]
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    others = 0
    for row, sentence in enumerate(oracle.sentences(source)):
        right, wrong = [best(r(search), *sentence) for r in (oracle.Oracle, rule)]
        oracle.check(decoded, row, right)
        others += [h.tokens for h in right] != [h.tokens for h in wrong]
        others += not np.allclose(*([h.log_prob for h in x] for x in (right, wrong)))
    assert others, "these sentences do not show the defect"
