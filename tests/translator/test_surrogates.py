"""Halves of characters, which UTF-8 cannot write, are read as U+FFFD."""

import tempfile

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.export import warmup
from tests.translator import tiny

LONE, READ = ["a\ud800b", "\udcff"], ["a\ufffdb", "\ufffd"]
BOTH = ["\ud83d\ude00 \ude00"], ["\N{GRINNING FACE} \ufffd"]


@pytest.mark.parametrize("given, read", [(LONE, READ), BOTH])
def test_translations(given, read):
    found, expected = (tiny.letters().translate([*x, "abba"]) for x in (given, read))
    assert found.texts == expected.texts and found.scores == expected.scores
    assert [translation.source for translation in found] == [*read, "abba"]
    for translation in found:
        translation.source.encode()
        translation.heat_map().encode()
        translation.html().encode()
    assert found[0].source_tokens == expected[0].source_tokens
    assert tiny.letters()("\ud800").source == "\ufffd"


READERS = {
    "score": lambda texts: tiny.letters().score(ks.data.Pairs(texts, texts[::-1])),
    "pipeline": lambda texts: list(tiny.letters().pipeline(texts)),
    "n_best": lambda texts: list(tiny.letters().pipeline.n_best(texts)),
    "encode": lambda texts: list(tiny.letters().pipeline.encode(texts)),
    "dataset": lambda texts: batches(texts),
    "cached dataset": lambda texts: batches(texts, cache=tempfile.mkdtemp() + "/ids"),
}


def batches(texts, **options):
    options = {"batch_size": 2, "shuffle": False, **options}
    return list(tiny.letters().dataset(ks.data.Pairs(texts, texts), **options))


@pytest.mark.parametrize("name", READERS)
def test_read_as_the_replacement_character(name):
    found, expected = READERS[name](LONE), READERS[name](READ)
    keras.tree.map_structure(np.testing.assert_array_equal, found, expected)


def test_metrics_and_warm_up_requests():
    pairs = ks.data.Pairs(LONE, [LONE[0], LONE])
    numbers = tiny.letters().evaluate(pairs, ["bleu", "chrf", "exact_match", "wer"])
    assert np.isfinite(list(numbers.values())).all()
    assert READ[0].encode() in warmup.prediction_log("nbest", {"text": LONE})
