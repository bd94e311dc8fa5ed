"""Filters: which pairs they drop, and for which reasons."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn import data
from tests.data.fakes import encoded_pairs

PAIRS = data.Pairs(
    ["ein Hund", "", "a", "ein Hund", " \u2028\t", "lang" * 30, "ein Hund", "ein"],
    ["a dog", "x", "", "a dog", "y", "long", "the dog", "one " * 10],
)


def test_each_pair_is_counted_once():
    kept, report = data.filter_pairs(
        PAIRS, min_characters=2, max_characters=100, ratio=10, drop_duplicates=True
    )
    assert kept == PAIRS.select([0, 6])
    assert report == data.Report(
        8,
        {
            "empty": 3,
            "longer than 100 characters": 1,
            "one side more than 10 times longer": 1,
            "duplicate": 1,
        },
    )
    assert report.kept == 2
    assert str(report).splitlines() == [
        "2 of 8 pairs kept",
        "      3 empty",
        "      1 longer than 100 characters",
        "      1 one side more than 10 times longer",
        "      1 duplicate",
    ]


def test_only_empty_ones_go_by_default():
    kept, report = data.filter_pairs(PAIRS)
    assert kept == PAIRS.select([0, 3, 5, 6, 7])
    assert report.dropped == {"empty": 3}
    assert data.filter_pairs(PAIRS, drop_empty=False)[0] == PAIRS


def test_nothing_is_left_of_nothing():
    kept, report = data.filter_pairs(PAIRS[:0], max_characters=3, drop_duplicates=True)
    assert (len(kept), str(report)) == (0, "0 of 0 pairs kept")


def test_ratio_of_empty_sides():
    pairs = data.Pairs(["", "", "abc", "abc"], ["", "a", "a", "b" * 10])
    kept, _ = data.filter_pairs(pairs, ratio=3, drop_empty=False)
    assert kept == pairs.select([0, 2])


def test_ten_thousand_tokens():
    encoded = encoded_pairs([[10, 11], [10_000, 9], [8, 10_000], [0, 0], [7, 7]])
    kept, report = data.filter_lengths(encoded, min_tokens=1, max_tokens=100)
    assert report.dropped == {"shorter than 1 tokens": 1, "longer than 100 tokens": 2}
    assert kept.source.lengths.tolist() == [10, 7]
    plan = data.plan_batches(kept, batch_tokens=100)
    assert max(rows * max(lengths) for rows, *lengths in plan.shapes) <= 100


@given(
    lengths=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1),
    least=st.none() | st.integers(1, 4),
    most=st.none() | st.integers(4, 9),
    ratio=st.none() | st.floats(1, 4),
)
def test_filter_lengths(lengths, least, most, ratio):
    kept, report = data.filter_lengths(
        encoded_pairs(lengths), min_tokens=least, max_tokens=most, ratio=ratio
    )
    expected = list(range(len(lengths)))
    if least is not None:
        expected = [n for n in expected if min(lengths[n]) >= least]
    if most is not None:
        expected = [n for n in expected if max(lengths[n]) <= most]
    if ratio is not None:
        expected = [n for n in expected if max(lengths[n]) <= ratio * min(lengths[n])]
    assert report.kept == len(kept) == len(expected)
    assert report.total == len(lengths)
    for side, ids in enumerate((kept.source, kept.target)):
        assert ids.lengths.tolist() == [lengths[n][side] for n in expected]
        repeated = np.repeat(np.array(expected, int) + 4, ids.lengths)
        assert ids.values.tolist() == repeated.tolist()
