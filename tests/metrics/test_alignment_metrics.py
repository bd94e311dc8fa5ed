"""Alignment error rate and confidence, compared with a second implementation."""

import math

import numpy as np
import pytest

from keras_seqattn import metrics
from keras_seqattn.decoding import coverage_penalty

RNG = np.random.default_rng(3)


def alignment(target, source):
    scores = 3 * RNG.normal(size=(target, source))
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_read(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("0-0 1?2 3:1\n\n2-1\n", encoding="utf-8")
    with open(path, encoding="utf-8") as lines:
        first, second, third = metrics.read_alignments(lines)
    assert first.sure == {(0, 0)} and first.possible == {(0, 0), (1, 2), (3, 1)}
    assert not second.sure and not second.possible
    assert third == ({(2, 1)}, {(2, 1)})
    [one] = metrics.read_alignments(["1-1 2?3"], one_based=True)
    assert one == ({(0, 0)}, {(0, 0), (1, 2)})


@pytest.mark.parametrize(
    "links, rate",
    [
        ({(0, 0), (1, 1)}, 0.0),  # all sure ones, nothing else
        ({(0, 0), (1, 1), (2, 2)}, 0.0),  # what is possible costs nothing
        ({(0, 0)}, 1 - (1 + 1) / (1 + 2)),  # a sure one is missing
        ({(0, 0), (1, 1), (0, 2)}, 1 - (2 + 2) / (3 + 2)),  # one too many
        ({(2, 2)}, 1 - (0 + 1) / (1 + 2)),
        (set(), 1.0),
    ],
)
def test_error_rate(links, rate):
    gold = metrics.read_alignments(["0-0 1-1 2?2"])
    assert metrics.alignment_error_rate([links], gold) == pytest.approx(rate)


def test_error_rate_counts_over_all_sentences_and_from_links_of_subwords():
    gold = metrics.read_alignments(["0-0", "0-0 1-1 2-2", ""])
    links = [{(0, 1)}, {(0, 0), (1, 1), (2, 2)}, set()]
    assert metrics.alignment_error_rate(links, gold) == pytest.approx(1 - 6 / 8)
    assert metrics.alignment_error_rate([set()], gold[2:]) == 0.0
    soft = [[0.1, 0.9, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.5]]
    assert metrics.alignment_links(soft) == {(1, 0), (0, 2)}
    # Three source and four target subwords with end tokens, two words each.
    tenths = [[4, 5, 1, 0], [1, 2, 7, 0], [2, 4, 4, 0], [0, 0, 1, 9]]
    soft = np.array(tenths) / 10
    words = metrics.merge_subwords(soft, [0, 0, 1, -1], [0, 1, 1, -1])
    np.testing.assert_allclose(words, [[0.9, 0.1], [0.45, 0.55]])
    gold = metrics.read_alignments(["0-0 1-1"])
    assert metrics.alignment_error_rate([metrics.alignment_links(words)], gold) == 0.0
    soft = alignment(5, 6)
    words = metrics.merge_subwords(soft, [0, 0, 1, 1, 1, 2], [0, 1, 1, 2, 2])
    assert words.shape == (3, 3)
    np.testing.assert_allclose(words.sum(axis=1), 1.0)
    np.testing.assert_allclose(words[2, 1], soft[3:, 2:5].sum(axis=1).mean())
    same = metrics.merge_subwords(soft, range(6), range(5))
    np.testing.assert_allclose(same, soft)


@pytest.mark.parametrize("target, source", [(1, 1), (4, 3), (2, 7)])
def test_confidence(target, source):
    a = alignment(target, source)
    found = metrics.alignment_confidence(a.astype("float64"))
    covered = [sum(a[i, j] for i in range(target)) for j in range(source)]
    deviation = sum(math.log(1 + (1 - c) ** 2) for c in covered) / source
    out = -sum(x * math.log(x) for x in a.flat) / target
    columns = a / a.sum(axis=0)
    into = -sum(x * math.log(x) for x in columns.flat) / source
    np.testing.assert_allclose(found.coverage_deviation, deviation, atol=1e-12)
    np.testing.assert_allclose(found.absentmindedness_out, out, atol=1e-12)
    np.testing.assert_allclose(found.absentmindedness_in, into, atol=1e-12)
    confidence = math.exp(-0.05 * (deviation + out + into) ** 2)
    np.testing.assert_allclose(found.confidence, confidence)
    entropy = out / math.log(source) if source > 1 else 0.0
    np.testing.assert_allclose(found.entropy, entropy, atol=1e-12)
    penalty = sum(math.log(min(c, 1.0)) for c in covered)
    np.testing.assert_allclose(found.coverage_penalty, penalty, atol=1e-12)


def test_confidence_of_extremes_and_the_penalty_of_the_search():
    best = metrics.alignment_confidence(np.eye(4))
    assert best == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    assert "-0.0" not in str(best)
    lost = metrics.alignment_confidence(np.full((4, 4), 0.25))
    assert lost.entropy == pytest.approx(1.0)
    assert lost.absentmindedness_in == pytest.approx(math.log(4))
    assert lost.coverage_deviation == 0.0  # spread, but each is seen once in sum
    stuck = metrics.alignment_confidence(np.eye(4)[[0, 0, 0, 0]])
    deviation = math.log(10) / 4 + 3 * math.log(2) / 4
    assert stuck.coverage_deviation == pytest.approx(deviation)
    assert stuck.coverage_penalty == pytest.approx(3 * math.log(1e-6))
    assert stuck.absentmindedness_out == 0.0
    a = alignment(3, 5).astype("float32")
    [expected] = coverage_penalty(a.sum(axis=0)[None], None, 1.0)
    ours = metrics.alignment_confidence(a).coverage_penalty
    np.testing.assert_allclose(ours, expected, rtol=1e-5)
