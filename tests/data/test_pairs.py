"""Pairs are a sequence of pairs."""

import pytest

from keras_seqattn import data

PAIRS = data.Pairs(("a", "b", "c"), ("x", "y", "z"), {"not UTF-8": 1})


def test_is_a_sequence_of_pairs():
    assert len(PAIRS) == 3
    assert PAIRS[-1] == ("c", "z")
    assert list(PAIRS) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert PAIRS[1:] == data.Pairs(["b", "c"], ["y", "z"])
    assert PAIRS.select([2, 0]) == data.Pairs(["c", "a"], ["z", "x"])
    assert PAIRS[:1] + PAIRS[2:] == PAIRS.select([0, 2])


def test_keeps_what_was_dropped_out_of_comparisons():
    assert data.Pairs(["a", "b", "c"], ["x", "y", "z"]) == PAIRS
    assert PAIRS.dropped == {"not UTF-8": 1}


@pytest.mark.parametrize(
    "pairs, printed",
    [
        (PAIRS, "Pairs(3 pairs: 'a' -> 'x', ...)"),
        (PAIRS[:1], "Pairs(1 pair: 'a' -> 'x')"),
        (PAIRS[:0], "Pairs(0 pairs)"),
    ],
)
def test_prints_no_more_than_one(pairs, printed):
    assert repr(pairs) == printed


def test_does_not_share_the_lists_it_was_given():
    source = ["a"]
    pairs = data.Pairs(source, ["x"])
    source.append("b")
    assert len(pairs) == 1


def test_targets_may_be_several_references():
    pairs = data.Pairs(["a", "b"], ["x", ["y", "z"]])
    assert pairs[1] == ("b", ["y", "z"])
