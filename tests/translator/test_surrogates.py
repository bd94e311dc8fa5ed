"""Halves of characters, which UTF-8 cannot write, are read as U+FFFD."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.translator import tiny

LONE, READ = ["a\ud800b", "\udcff"], ["a\ufffdb", "\ufffd"]


@pytest.mark.parametrize(
    "given, read",
    [(LONE, READ), (["\ud83d\ude00 \ude00"], ["\N{GRINNING FACE} \ufffd"])],
)
def test_translations(given, read):
    found = tiny.letters().translate([*given, "abba"])
    expected = tiny.letters().translate([*read, "abba"])
    assert found.texts == expected.texts and found.scores == expected.scores
    assert [translation.source for translation in found] == [*read, "abba"]
    for translation in found:
        translation.source.encode()
        translation.heat_map().encode()
        translation.html().encode()
    assert found[0].source_tokens == expected[0].source_tokens


def test_one_text():
    assert tiny.letters()("\ud800").source == "\ufffd"


def test_scores_and_metrics():
    found = [
        tiny.letters().score(ks.data.Pairs(texts, texts[::-1]))
        for texts in (LONE, READ)
    ]
    assert found[0] == found[1]
    pairs = ks.data.Pairs(LONE, [LONE[0], LONE])
    numbers = tiny.letters().evaluate(pairs, ["bleu", "chrf", "exact_match", "wer"])
    assert np.isfinite(list(numbers.values())).all()


def test_everything_of_a_pipeline():
    pipeline = tiny.letters().pipeline
    for method in (pipeline, pipeline.n_best, pipeline.encode):
        for a, b in zip(method(LONE), method(READ), strict=True):
            assert np.array_equal(a, b)


def test_data_sets(tmp_path):
    pairs = ks.data.Pairs(LONE, LONE), ks.data.Pairs(READ, READ)
    for options in ({}, {"cache": tmp_path / "ids"}):
        found, expected = (
            list(tiny.letters().dataset(p, batch_size=2, shuffle=False, **options))
            for p in pairs
        )
        keras.tree.map_structure(np.testing.assert_array_equal, found, expected)


def test_words_for_unknown_ones():
    words = ks.text.Words.learn(["un"])
    made = tiny.translator(words, words, unknown={"\ud800": "\udcff", "a": "b"})
    assert isinstance(made("\ud800 a").text, str)


def test_warm_up_requests(tmp_path):
    tiny.letters().export(tmp_path / "exported", warmup=LONE)
    requests = tmp_path / "exported/assets.extra/tf_serving_warmup_requests"
    assert READ[0].encode() in requests.read_bytes()
