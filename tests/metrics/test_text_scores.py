"""Text metrics, compared with small cases that are counted by hand."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.metrics import TextMetric, bleu, chrf, edit_distance, exact_match
from keras_seqattn.metrics.text_metric import METRICS, text_metric
from keras_seqattn.metrics.text_scores import token_error_rate, word_error_rate

WORDS = st.text(alphabet="abc", max_size=5)


@given(WORDS, WORDS)
def test_edit_distance_equals_its_definition(a, b):
    def distance(i, j):
        if 0 in (i, j):
            return i + j
        same = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, same)

    assert edit_distance(a, b) == distance(len(a), len(b))
    assert edit_distance(tuple(a), list(b)) == distance(len(a), len(b))


def test_exact_match_and_errors_of_pronunciations():
    hypotheses = ["a b", "c", "d", ""]
    assert exact_match(hypotheses, ["a b", "x", ["e", "d"], ["", "f"]]) == 75.0
    assert exact_match(["A"], ["a"]) == 0.0
    listed = [["T AH M EY T OW", "T AH M AA T OW"], ["R UW T", "R AW T"], ["DH AH"]]
    said = ["T AH M AA T OW", "R UH T", "DH AH"]
    assert word_error_rate(said, listed) == pytest.approx(100 / 3)
    # Nearest: 0 of 6, 1 of 3, 0 of 2 phonemes.
    assert token_error_rate(said, listed) == pytest.approx(100 * 1 / 11)


def test_token_error_rate_near_and_empty_references():
    # 1 replaced, 1 missing, 2 too many; 3 + 2 + 1 tokens.
    hypotheses, references = ["a x c", "a", "a b c"], ["a b c", "a b", "b"]
    assert token_error_rate(hypotheses, references) == pytest.approx(100 * 4 / 6)
    assert token_error_rate(["abc"], ["abd"], tokenize=list) == pytest.approx(100 / 3)
    for references in (["a b c", "a"], ["a", "a b c"]):
        assert token_error_rate(["a b"], [references]) == 100.0
    assert token_error_rate([""], [""]) == 0.0
    assert token_error_rate(["a"], [""]) == 100.0


def test_bleu_by_hand_of_the_whole_corpus():
    """p_1 .. p_4 = 5/6, 4/5, 3/4, 2/3 and as long as the reference."""
    hypothesis, reference = "the cat sat down on it", "the cat sat down on mats"
    expected = 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert bleu([hypothesis], [reference]) == pytest.approx(expected)
    # Another reference knows "it", but not after "on".
    expected = 100 * (6 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    both = [reference, "it is a cat yes it"]
    assert bleu([hypothesis], [both]) == pytest.approx(expected)
    # Counts are summed, not scores averaged; the brevity penalty is of the sums.
    hypotheses = ["a b c d", "e f g h"]
    references = ["a b c d e", "e f g h i"]
    assert bleu(hypotheses, references) == pytest.approx(100 * math.exp(1 - 10 / 8))
    uneven = bleu(["a b c d", "x y z w"], [["a b c d", "v"], "e f g h"])
    assert uneven == pytest.approx(100 * (4 / 8 * 3 / 6 * 2 / 4 * 1 / 2) ** 0.25)


def test_bleu_of_a_short_sentence_and_its_options():
    assert bleu(["a b"], ["a b"]) == 0
    assert bleu(["a b"], ["a b"], effective_order=True) == pytest.approx(100)
    assert 0 < bleu(["a b"], ["a c"], effective_order=True) < 60
    assert bleu(["A b c d"], ["a b c d"]) < 80
    assert bleu(["A b c d"], ["a b c d"], lowercase=True) == pytest.approx(100)
    # 13a takes "d." apart.
    glued, apart = ["a b c d."], ["a b c d ."]
    assert bleu(glued, apart) == pytest.approx(100)
    assert bleu(glued, apart, tokenize="none") < 60


def test_signature():
    score = bleu(["a b c d"], ["a b c d"], tokenize="none", lowercase=True)
    assert score.signature.startswith("nrefs:1|case:lc|eff:no|tok:none|smooth:exp|")
    score = chrf(["a b"], ["a b"], word_order=2)
    assert score.signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|")


def test_tokenized_text_raises_no_suspicion_and_signatures_are_copied(caplog):
    texts = ["a b c d ."] * 100
    bleu(texts, texts, tokenize="none")
    assert not caplog.records
    bleu(texts, texts)
    assert caplog.records
    score = bleu(["a b c d"], ["a b c d"])
    for again in (copy.deepcopy(score), pickle.loads(pickle.dumps(score))):
        assert again == score and again.signature == score.signature


def test_chrf_by_hand():
    """ "cat" and "cats": precision 1, recall the mean of 3/4, 2/3 and 1/2."""
    recall = (3 / 4 + 2 / 3 + 1 / 2) / 3
    assert chrf(["cat"], ["cats"]) == pytest.approx(100 * 5 * recall / (4 + recall))
    assert chrf(["cat"], [["dog", "cat"]]) == 100.0


@pytest.mark.parametrize("name", METRICS)
def test_direction(name):
    metric = text_metric(name)
    right, wrong = metric(["a b c d"], ["a b c d"]), metric(["x y"], ["a b c d"])
    assert metric.is_better(right, wrong) and not metric.is_better(wrong, right)
    assert metric.is_better(wrong, None) and not metric.is_better(right, right)
    assert not metric.is_better(np.nan, None) and not metric.is_better(np.nan, wrong)


def test_check():
    """`check` tests the packages, and does not call custom functions."""
    asked = []
    mine = TextMetric("mine", None, needs=lambda: asked.append(True))
    mine.check()
    TextMetric("simple", None).check()
    assert asked == [True]


def test_of_tokenised_text_and_blanks_of_pronunciations():
    texts = ["a b c d."], ["a b c d ."]
    assert METRICS["tokenized_bleu"](*texts) == bleu(*texts, tokenize="none")
    said, listed = ["K AE T", " T  AH"], ["K  AE T ", ["T UW", "T AH"]]
    assert word_error_rate(said, listed) == 0.0
    assert token_error_rate(said, listed) == 0.0
