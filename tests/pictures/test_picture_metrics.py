"""The metrics of pictures, compared with numbers computed by hand."""

import math

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from keras_seqattn.pictures.picture import hypothesis as said
from keras_seqattn.pictures.picture import picture
from keras_seqattn.pictures.picture_metrics import longest_common
from tests.tensorboard.logs import spaced

SOURCE = spaced("a", "cat")  # three tokens, the end among them


def of(weights, words=("Katze",), reference=None, **about):
    weights = np.array(weights)
    return picture(*SOURCE, [said(*spaced(*words), weights, **about)], reference)


def test_by_hand():
    """Rows: one third each; all on the second word."""
    metrics = of([[1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0]])["metrics"]
    third, out = 1 / 3, math.log(3) / 2
    covered = [third, 1 + third, third]
    deviation = sum(math.log(1 + (1 - c) ** 2) for c in covered) / 3
    into = (0.25 * math.log(4) + 0.75 * math.log(4 / 3)) / 3  # of the second word
    assert metrics == {
        "coverage_deviation": round(deviation, 5),
        "absentmindedness_out": round(out, 5),
        "absentmindedness_in": round(into, 5),
        "entropy": round(out / math.log(3), 5),
        "overlap": 0.4,  # "at" of "Katze"
        "length_ratio": 0.5,
    }


def test_the_mean_over_heads_counts():
    heads = [[[1.0, 0, 0], [0, 0, 1.0]], [[0, 0, 1.0], [0, 0, 1.0]]]
    mean = [[0.5, 0, 0.5], [0, 0, 1.0]]
    assert of(heads)["metrics"] == of(mean)["metrics"]


def test_bleu_is_of_what_the_search_found():
    eye = np.eye(5, 3)
    words = ("one", "two", "three", "four")
    assert of(eye, words, "one two three four")["metrics"]["bleu"] == 100.0
    assert 0 < of(eye, words, "one two three five")["metrics"]["bleu"] < 100.0
    assert of(np.eye(2, 3), reference="zwei Katze")["metrics"]["bleu"] != 0
    assert "bleu" not in of(eye, words, "one", kind="forced")["metrics"]


def test_bleu_without_sacrebleu(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sacrebleu.metrics", None)
    assert of(np.eye(2, 3), reference="Katze")["metrics"]["bleu"] is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 7.0])
def test_of_no_alignment(value):
    """Metrics that cannot be computed are None; the others are present."""
    metrics = of(np.full((2, 3), value), reference="Hund")["metrics"]
    nothing = [name for name, x in metrics.items() if x is None]
    assert set(nothing) == {
        "coverage_deviation",
        "absentmindedness_out",
        "absentmindedness_in",
        "entropy",
    }


def test_of_nothing():
    """No hypothesis, one without tokens, and one of an end token only."""
    assert set(picture(*SOURCE, [])["metrics"].values()) == {None}
    nothing = picture(*SOURCE, [said("", [], np.zeros((0, 3)))])["metrics"]
    assert nothing["entropy"] is None and nothing["length_ratio"] == 0.0
    end = of([[0.0, 0.0, 1.0]], ())["metrics"]
    assert end["overlap"] is None and end["length_ratio"] == 0.0
    assert end["entropy"] == 0.0
    blank = picture(*spaced(), [said(*spaced("a"), np.ones((2, 1)))])["metrics"]
    assert blank["length_ratio"] is None and blank["overlap"] == 0.0


@hypothesis.given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_longest_common(a, b):
    parts = {a[i:j] for i in range(len(a) + 1) for j in range(i, len(a) + 1)}
    assert longest_common(a, b) == max(len(part) for part in parts if part in b)


@pytest.mark.timeout(20)
def test_longest_common_of_long_texts():
    assert longest_common("a" * 10_000, "b" + "a" * 10_000) == 10_000
