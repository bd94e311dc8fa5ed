"""Text metrics, compared with small cases that are counted by hand."""

import copy
import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.metrics.text_metric import METRICS, text_metric

WORDS = st.text(alphabet="abc", max_size=7)


# Edit distance ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a, b, distance",
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),
        ("flaw", "lawn", 2),
        ("abcd", "bcda", 2),
        (["AH", "T"], ["AH", "D", "T"], 1),
        ((1, 2, 3), (3, 2, 1), 2),
    ],
)
def test_edit_distance(a, b, distance):
    assert ks.metrics.edit_distance(a, b) == ks.metrics.edit_distance(b, a) == distance


@given(WORDS, WORDS)
def test_edit_distance_equals_its_definition(a, b):
    def distance(i, j):
        if 0 in (i, j):
            return i + j
        same = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, same)

    a, b = a[:5], b[:5]
    assert ks.metrics.edit_distance(a, b) == distance(len(a), len(b))


@given(WORDS, WORDS, WORDS)
def test_edit_distance_is_one(a, b, c):
    d = ks.metrics.edit_distance
    assert d(a, a) == 0 and d(a, b) == d(b, a)
    assert d(a, c) <= d(a, b) + d(b, c)
    assert abs(len(a) - len(b)) <= d(a, b) <= max(len(a), len(b))


# Error rates --------------------------------------------------------------------------


def test_exact_match():
    hypotheses = ["a b", "c", "d", ""]
    assert (
        ks.metrics.exact_match(hypotheses, ["a b", "x", ["e", "d"], ["", "f"]]) == 75.0
    )
    assert ks.metrics.exact_match(["A"], ["a"]) == 0.0


def test_word_error_rate_of_pronunciations():
    """Right if it equals any of those listed."""
    listed = [["T AH M EY T OW", "T AH M AA T OW"], ["R UW T", "R AW T"], ["DH AH"]]
    said = ["T AH M AA T OW", "R UH T", "DH AH"]
    assert ks.metrics.word_error_rate(said, listed) == pytest.approx(100 / 3)
    # Nearest: 0 of 6, 1 of 3, 0 of 2 phonemes.
    assert ks.metrics.token_error_rate(said, listed) == pytest.approx(100 * 1 / 11)


def test_token_error_rate():
    # 1 replaced, 1 missing, 2 too many; 3 + 2 + 1 tokens.
    hypotheses, references = ["a x c", "a", "a b c"], ["a b c", "a b", "b"]
    assert ks.metrics.token_error_rate(hypotheses, references) == pytest.approx(
        100 * 4 / 6
    )
    assert ks.metrics.token_error_rate(
        ["abc"], ["abd"], tokenize=list
    ) == pytest.approx(100 / 3)


def test_of_equally_near_references_the_shortest_counts():
    for references in (["a b c", "a"], ["a", "a b c"]):
        assert ks.metrics.token_error_rate(["a b"], [references]) == 100.0


def test_empty_references():
    assert ks.metrics.token_error_rate([""], [""]) == 0.0
    assert ks.metrics.token_error_rate(["a"], [""]) == 100.0


# BLEU and chrF ------------------------------------------------------------------------


def test_bleu_by_hand():
    """p_1 .. p_4 = 5/6, 4/5, 3/4, 2/3 and as long as the reference."""
    hypothesis, reference = "the cat sat down on it", "the cat sat down on mats"
    expected = 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert ks.metrics.bleu([hypothesis], [reference]) == pytest.approx(expected)
    # Another reference knows "it", but not after "on".
    p = (6 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert ks.metrics.bleu(
        [hypothesis], [[reference, "it is a cat yes it"]]
    ) == pytest.approx(100 * p)


def test_bleu_is_of_the_whole_corpus():
    """Counts are summed, not scores averaged; the brevity penalty is of the sums."""
    hypotheses = ["a b c d", "e f g h"]
    references = ["a b c d e", "e f g h i"]
    assert ks.metrics.bleu(hypotheses, references) == pytest.approx(
        100 * math.exp(1 - 10 / 8)
    )
    uneven = ks.metrics.bleu(["a b c d", "x y z w"], [["a b c d", "v"], "e f g h"])
    assert uneven == pytest.approx(100 * (4 / 8 * 3 / 6 * 2 / 4 * 1 / 2) ** 0.25)


def test_bleu_of_a_short_sentence():
    assert ks.metrics.bleu(["a b"], ["a b"]) == 0
    assert ks.metrics.bleu(["a b"], ["a b"], effective_order=True) == pytest.approx(100)
    half = ks.metrics.bleu(["a b"], ["a c"], effective_order=True)
    assert 0 < half < 60


def test_bleu_options():
    assert ks.metrics.bleu(["A b c d"], ["a b c d"]) < 80
    assert ks.metrics.bleu(["A b c d"], ["a b c d"], lowercase=True) == pytest.approx(
        100
    )
    # 13a takes "d." apart.
    glued, apart = ["a b c d."], ["a b c d ."]
    assert ks.metrics.bleu(glued, apart) == pytest.approx(100)
    assert ks.metrics.bleu(glued, apart, tokenize="none") < 60


def test_signature():
    score = ks.metrics.bleu(["a b c d"], ["a b c d"], tokenize="none", lowercase=True)
    assert score.signature.startswith("nrefs:1|case:lc|eff:no|tok:none|smooth:exp|")
    score = ks.metrics.chrf(["a b"], ["a b"], word_order=2)
    assert score.signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|")


def test_text_that_is_said_to_be_tokenized_raises_no_suspicion(caplog):
    texts = ["a b c d ."] * 100
    ks.metrics.bleu(texts, texts, tokenize="none")
    assert not caplog.records
    ks.metrics.bleu(texts, texts)
    assert caplog.records


def test_score_is_copied_with_its_signature():
    score = ks.metrics.bleu(["a b c d"], ["a b c d"])
    for again in (copy.deepcopy(score), pickle.loads(pickle.dumps(score))):
        assert again == score and again.signature == score.signature


def test_chrf_by_hand():
    """ "cat" and "cats": precision 1, recall the mean of 3/4, 2/3 and 1/2."""
    recall = (3 / 4 + 2 / 3 + 1 / 2) / 3
    assert ks.metrics.chrf(["cat"], ["cats"]) == pytest.approx(
        100 * 5 * recall / (4 + recall)
    )
    assert ks.metrics.chrf(["cat"], [["dog", "cat"]]) == 100.0


def test_without_sacrebleu(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ImportError) as caught:
        ks.metrics.bleu(["a"], ["a"])
    assert str(caught.value) == (
        "bleu and chrf need a package that is not installed. Expected sacrebleu, "
        'received an ImportError. Run pip install "keras_seqattn[metrics]".'
    )


# By name ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METRICS)
def test_direction(name):
    """A right hypothesis scores better than a wrong one."""
    metric = text_metric(name)
    right, wrong = metric(["a b c d"], ["a b c d"]), metric(["x y"], ["a b c d"])
    assert metric.is_better(right, wrong) and not metric.is_better(wrong, right)
    assert metric.is_better(wrong, None) and not metric.is_better(right, right)
    assert not metric.is_better(np.nan, None) and not metric.is_better(np.nan, wrong)


def test_check():
    """`check` tests the packages, and does not call custom functions."""
    asked = []
    mine = ks.metrics.TextMetric("mine", None, needs=lambda: asked.append(True))
    mine.check()
    ks.metrics.TextMetric("simple", None).check()
    assert asked == [True]


def test_of_tokenised_text():
    assert METRICS["tokenized_bleu"](["a b c d."], ["a b c d ."]) == ks.metrics.bleu(
        ["a b c d."], ["a b c d ."], tokenize="none"
    )


def test_blanks_are_no_mistake_in_a_pronunciation():
    said, listed = ["K AE T", " T  AH"], ["K  AE T ", ["T UW", "T AH"]]
    assert ks.metrics.word_error_rate(said, listed) == 0.0
    assert ks.metrics.token_error_rate(said, listed) == 0.0
