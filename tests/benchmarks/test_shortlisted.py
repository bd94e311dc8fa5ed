"""What a shortlist gains: lists of all sizes, and none, with every search."""

import keras
import pytest

import keras_seqattn as ks
from benchmarks import shortlisted
from keras_seqattn import zoo

PAIRS = ks.data.Pairs(["ein haus", "ein hund", "das haus"], ["a b", "a c", "d b"])


@pytest.mark.system
def test_with_and_without(monkeypatch):
    keras.utils.set_random_seed(1)
    source, target = (
        ks.text.Words.learn(PAIRS.source),
        ks.text.Words.learn(PAIRS.target),
    )
    model = zoo.wang_simple(
        "small",
        source_vocabulary=source.vocabulary_size,
        target_vocabulary=target.vocabulary_size,
    )
    asked = []

    def translator(search, shortlist=None):
        asked.append(None if shortlist is None else shortlist.size)
        return ks.Translator(model, source, target, search, 4, shortlist=shortlist)

    monkeypatch.setattr(shortlisted.trained, "translator", translator)
    monkeypatch.setattr(shortlisted.trained, "bleu", lambda texts, pairs: len(texts))
    rows = shortlisted.measured(PAIRS, PAIRS, rounds=1, sizes=(6, 5))
    kinds = [(row["search"], row["size"]) for row in rows]
    expected = [(s, size) for s in shortlisted.SEARCHES for size in (None, 6, 5)]
    assert kinds == expected
    assert asked == [None, *(size for _, size in expected)]
    assert all(row["seconds"] > 0 and row["BLEU"] == len(PAIRS) for row in rows)
    head, first, *lines = shortlisted.table(rows)
    assert first[:2] == ["greedy", "all"] and first[3] == "1.00"
    assert all(len(line) == len(head) for line in lines)
