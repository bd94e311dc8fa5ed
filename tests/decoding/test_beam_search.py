"""Beam search compared with an oracle in Python, for all its options."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import END, VOCABULARY, TableModel, tables

MODEL = TableModel()  # shared by all tests, so that each search is traced once
LIMIT = 7
SEARCHES = {
    "narrow": ks.BeamSearch(2, n_best=2),
    "length": ks.BeamSearch(4, n_best=4, length_penalty=1.0),
    "coverage": ks.BeamSearch(3, n_best=3, length_penalty=0.6, coverage_penalty=0.3),
    "late": ks.BeamSearch(3, n_best=2, min_length=4, length_penalty=0.6),
    "forbidden": ks.BeamSearch(3, n_best=3, forbidden_tokens=[3]),
    "ngram": ks.BeamSearch(4, n_best=4, no_repeat_ngram=2),
    "wider_than_the_vocabulary": ks.BeamSearch(9, n_best=9, length_penalty=0.6),
    "everything": ks.BeamSearch(
        5,
        n_best=3,
        length_penalty=1.2,
        coverage_penalty=0.1,
        min_length=3,
        forbidden_tokens=[5],
        no_repeat_ngram=3,
    ),
}
sources = st.builds(
    tables, st.integers(0, 10**6), scale=st.sampled_from([0.3, 1.5, 4.0])
)


def expected_of(search, source, limit=LIMIT, prefix=None):
    """Yield for each sentence the oracle's best hypotheses and their rankings."""
    ranks = oracle.Oracle(search)
    prefixes = np.zeros([len(source["mask"]), 1]) if prefix is None else prefix
    rows = zip(oracle.sentences(source), prefixes, strict=True)
    for (table, look, mask), row in rows:
        beam, _ = ranks.run(table, look, mask, limit, tuple(row))
        best = beam[: search.n_best]
        yield best, [ranks.ranking(h, mask, limit) for h in best]


def compare(decoded, search, source, limit=LIMIT, prefix=None):
    for row, (best, rankings) in enumerate(expected_of(search, source, limit, prefix)):
        oracle.check(decoded, row, best, rankings)


@pytest.mark.parametrize("name", SEARCHES)
@given(source=sources)
def test_beam_is_the_oracles(name, source):
    decoded = ks.decode(MODEL, source, SEARCHES[name], max_length=LIMIT)
    compare(decoded, SEARCHES[name], source)


@pytest.mark.parametrize("name", ["narrow", "coverage", "everything"])
@given(source=sources, prefix=st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_prefix(name, source, prefix):
    """Every sentence has a prefix of another length. Its tokens count in the score."""
    random = np.random.default_rng(sum(prefix))
    words = random.integers(3, VOCABULARY, (3, 3))
    prefix = words * (np.arange(3) < np.array(prefix)[:, None])
    decoded = ks.decode(MODEL, source, SEARCHES[name], LIMIT, prefix=prefix)
    compare(decoded, SEARCHES[name], source, prefix=prefix)
    for row in range(3):
        forced = prefix[row][prefix[row] != 0]
        real = np.asarray(decoded.tokens)[row][np.asarray(decoded.lengths)[row] > 0]
        assert (real[:, : len(forced)] == forced).all()


def test_a_prefix_may_hold_what_is_forbidden():
    source, search = (
        tables(3),
        ks.BeamSearch(3, forbidden_tokens=[4], n_best=2),
    )
    prefix = np.array([[4, 4], [4, 0], [0, 0]])
    decoded = ks.decode(MODEL, source, search, LIMIT, prefix=prefix)
    compare(decoded, search, source, prefix=prefix)
    first, *_, free = np.asarray(decoded.tokens)
    assert (first[:, :2] == 4).all() and not (free == 4).any()


@given(source=sources)
def test_width_one_is_greedy(source):
    for options in ({}, {"min_length": 3, "no_repeat_ngram": 2}):
        greedy = ks.decode(MODEL, source, ks.Greedy(**options), max_length=LIMIT)
        beam = ks.decode(MODEL, source, ks.BeamSearch(1, **options), max_length=LIMIT)
        for name, one, other in zip(greedy._fields, greedy, beam, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5, err_msg=name)


@given(source=sources)
def test_greedy_takes_the_most_probable(source):
    decoded = ks.decode(MODEL, source, ks.Greedy(), max_length=LIMIT)
    compare(decoded, ks.BeamSearch(1), source)


@pytest.mark.parametrize("alpha", [-0.7, 0.0, 0.6, 2.0])
@given(source=sources)
def test_early_stop_changes_nothing(alpha, source):
    options = {"length_penalty": alpha, "coverage_penalty": 0.2, "n_best": 3}
    stops, goes_on = [
        ks.decode(MODEL, source, ks.BeamSearch(4, use_early_stop=use, **options), 9)
        for use in (True, False)
    ]
    for name, one, other in zip(stops._fields, stops, goes_on, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, err_msg=name)


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


@given(source=sources)
def test_finished_hypotheses_never_change(source):
    """If all of the best end before step 6, more steps change nothing."""
    source["table"][..., END] += 3.0
    search = ks.BeamSearch(4, n_best=4, length_penalty=0.6, use_early_stop=False)
    short = ks.decode(MODEL, source, search, max_length=LIMIT)
    long = ks.decode(MODEL, source, search, max_length=LIMIT + 5)
    for row in range(3):
        ended = [END in hypothesis for hypothesis in short.tokens[row].numpy()]
        if not all(ended):
            continue
        size = int(np.max(short.lengths[row]))
        for name in ("lengths", "scores", "ranking"):
            one, other = getattr(short, name)[row], getattr(long, name)[row]
            np.testing.assert_array_equal(one, other)
        for one, other in zip(short.tokens[row], long.tokens[row], strict=True):
            np.testing.assert_array_equal(one[:size], other[:size])
        np.testing.assert_array_equal(
            short.alignments[row][..., :size, :], long.alignments[row][..., :size, :]
        )


@pytest.mark.parametrize("name", SEARCHES)
@given(source=sources)
def test_sorted_and_distinct(name, source):
    decoded = ks.decode(MODEL, source, SEARCHES[name], max_length=LIMIT)
    ranking = decoded.ranking.numpy()
    assert (ranking[:, :-1] >= ranking[:, 1:]).all()
    for tokens, lengths in zip(decoded.tokens.numpy(), decoded.lengths, strict=True):
        real = [tuple(x[:n]) for x, n in zip(tokens, lengths, strict=True) if n > 0]
        assert len(set(real)) == len(real)
        assert all(END not in x[:-1] for x in real)


@given(source=sources)
def test_one_hypothesis_is_the_first_of_many(source):
    one, many = [
        ks.decode(
            MODEL,
            source,
            ks.BeamSearch(4, n_best=n, length_penalty=0.6),
            LIMIT,
        )
        for n in (1, 4)
    ]
    size = one.tokens.shape[-1]
    np.testing.assert_array_equal(one.tokens[:, 0], many.tokens[:, 0, :size])
    np.testing.assert_allclose(one.scores[:, 0], many.scores[:, 0], atol=1e-5)


@given(source=sources, order=st.permutations(range(3)))
def test_sentences_do_not_see_each_other(source, order):
    search = SEARCHES["coverage"]
    together = ks.decode(MODEL, source, search, max_length=LIMIT)
    shuffled = keras.tree.map_structure(lambda x: x[list(order)], source)
    other = ks.decode(MODEL, shuffled, search, max_length=LIMIT)
    for one, two in zip(together, other, strict=True):
        np.testing.assert_allclose(one.numpy()[list(order)], two, atol=1e-5)
    alone = keras.tree.map_structure(lambda x: x[:1], source)
    alone = ks.decode(MODEL, alone, search, max_length=LIMIT)
    size = alone.tokens.shape[-1]
    np.testing.assert_array_equal(alone.tokens[0], together.tokens[0, :, :size])
    np.testing.assert_allclose(alone.scores[0], together.scores[0], atol=1e-5)


def test_ties_fall_to_the_lower_place_and_id():
    """All words are equally probable: the place in the beam decides, then the id."""
    source = tables(2)
    source["table"][:] = 0.0
    decoded = ks.decode(MODEL, source, ks.BeamSearch(4, n_best=4), max_length=2)
    expected = [[END, 0], [3, END], [3, 3], [3, 4]]
    np.testing.assert_array_equal(decoded.tokens, [expected] * 3)
    greedy = ks.decode(MODEL, source, ks.Greedy(min_length=2), max_length=2)
    np.testing.assert_array_equal(greedy.tokens, [[[3, END]]] * 3)
