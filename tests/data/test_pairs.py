"""Pairs are a sequence; filters drop some of them, and say why."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn import data
from tests.data.fakes import encoded_pairs

PAIRS = data.Pairs(
    ["ein Hund", "", "a", "ein Hund", " \u2028\t", "lang" * 30, "ein Hund", "ein"],
    ["a dog", "x", "", "a dog", "y", "long", "the dog", "one " * 10],
)


def test_each_pair_is_counted_once():
    options = {"min_characters": 2, "max_characters": 100, "ratio": 10}
    kept, report = data.filter_pairs(PAIRS, drop_duplicates=True, **options)
    assert kept == PAIRS.select([0, 6])
    lengths = ["longer than 100 characters", "one side more than 10 times longer"]
    reasons = {"empty": 3, **dict.fromkeys([*lengths, "duplicate"], 1)}
    assert (report.total, report.dropped, report.kept) == (8, reasons, 2)
    assert str(report).splitlines() == [
        "2 of 8 pairs kept",
        "      3 empty                               | x",
        "                                            a |",
        "                                            |  | y",
        f"      1 longer than 100 characters          {'lang' * 9}l...",
        f"      1 one side more than 10 times longer  ein | {'one ' * 7}one...",
        "      1 duplicate                           ein Hund | a dog",
    ]


def test_reports_of_two_filters_are_one_and_words_are_counted_first():
    first = data.Report(9, {"a": 2, "b": 1}, {"a": ["1", "2"]})
    later = data.Report(6, {"c": 1, "a": 3}, {"a": ["3", "4", "5"], "c": ["6"]})
    both = first.then(later)
    assert both.dropped == {"a": 5, "b": 1, "c": 1} and both.kept == 2
    assert both.examples == {"a": ["1", "2", "3"], "c": ["6"]}
    pairs = data.Pairs(["a " * 4, "a a a", "abcdefghijkl"], ["x", "x " * 3, "x"])
    kept, report = data.filter_pairs(pairs, max_words=3)
    assert kept == pairs.select([1, 2])
    assert report.dropped == {"longer than 3 words": 1}


def test_only_empty_ones_go_by_default_and_ratios_of_empty_sides():
    kept, report = data.filter_pairs(PAIRS)
    assert kept == PAIRS.select([0, 3, 5, 6, 7])
    assert report.dropped == {"empty": 3}
    assert data.filter_pairs(PAIRS, drop_empty=False)[0] == PAIRS
    kept, report = data.filter_pairs(PAIRS[:0], max_characters=3, drop_duplicates=True)
    assert (len(kept), str(report)) == (0, "0 of 0 pairs kept")
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
    options = {"min_tokens": least, "max_tokens": most, "ratio": ratio}
    kept, report = data.filter_lengths(encoded_pairs(lengths), **options)
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


REPORT = data.Report(4, {"not UTF-8": 1})
THREE = data.Pairs(("a", "b", "c"), ("x", "y", "z"), REPORT)


def test_is_a_sequence_of_pairs_with_a_report_that_prints_one():
    assert len(THREE) == 3
    assert THREE[-1] == ("c", "z")
    assert list(THREE) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert THREE[1:] == data.Pairs(["b", "c"], ["y", "z"])
    assert THREE.select([2, 0]) == data.Pairs(["c", "a"], ["z", "x"])
    assert THREE[:1] + THREE[2:] == THREE[:1] + [("c", "z")] == THREE.select([0, 2])
    assert data.Pairs(["a", "b"], ["x", ["y", "z"]])[1] == ("b", ["y", "z"])
    assert data.Pairs(["a", "b", "c"], ["x", "y", "z"]) == THREE
    assert THREE.report is REPORT
    assert repr(THREE) == "Pairs(3 pairs: 'a' -> 'x', ...)"
    assert repr(THREE[:1]) == "Pairs(1 pair: 'a' -> 'x')"
    assert repr(THREE[:0]) == "Pairs(0 pairs)"


class Sides:
    source, target = ("a", "b", "c"), ("x", "y", "z")


@pytest.mark.parametrize(
    "pairs",
    [
        *(list(THREE), tuple(THREE), iter(THREE), np.array(list(THREE)), Sides()),
        (THREE.source, THREE.target),
        (np.array(THREE.source), iter(THREE.target)),
    ],
    ids="list tuple iterator array object sides arrays".split(),
)
def test_other_pairs_are_taken(pairs):
    assert data.Pairs(pairs) == THREE


def test_two_tuples_are_two_pairs_and_lists_are_not_shared():
    pairs = data.Pairs((("a", "x"), ("b", ("y", "z"))))
    assert pairs == data.Pairs(["a", "b"], ["x", ("y", "z")])
    assert data.filter_pairs([("a", "x"), ("", "y")])[0] == data.Pairs(["a"], ["x"])
    pairs = data.Pairs(source := ["a"], ["x"])
    source.append("b")
    assert len(pairs) == 1
