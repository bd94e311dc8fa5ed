"""Processors are learned from texts of many kinds, and loaded as they were saved."""

import gzip
import json

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.text.learned import ALL, KINDS, OPTIONS, learn, learned

LINES = ["b a c", "a b", "a"]


def test_words_and_characters_by_falling_count_without_special_tokens():
    assert ks.text.Words.learn(LINES).vocabulary[4:] == ("a", "b", "c")
    assert ks.text.Words.learn(LINES, 6).vocabulary[4:] == ("a", "b")
    assert ks.text.Words.learn(LINES, minimum_count=3).vocabulary[4:] == ("a",)
    assert ks.text.Characters.learn(LINES).vocabulary[4:] == (" ", "a", "b", "c")
    unknown = "Characters.learn got a text of which most is unknown"
    with pytest.warns(UserWarning, match=f"{unknown}.*vocabulary_size=5 and .* %"):
        assert ks.text.Characters.learn(LINES, 5).vocabulary[4:] == (" ",)
    twice = ks.text.Characters.learn(LINES, minimum_count=2)
    assert twice.vocabulary[4:] == (" ", "a", "b")
    words = ks.text.Words.learn(["<s> a </s>"])
    assert words.vocabulary == ("<pad>", "<s>", "</s>", "<unk>", "a")
    nothing = ks.text.Words.learn(["<s>"])
    assert nothing.encode("<s> a").numpy().tolist() == [3, 3]


SOURCES = {
    "generator": lambda: (line for line in LINES),
    "bytes": lambda: [line.encode() for line in LINES],
    "array": lambda: np.array(LINES),
    "objects": lambda: np.array([LINES], dtype=object),
    "tensors": lambda: [tf.constant(LINES[0]), tf.constant(LINES[1:])],
    "dataset": lambda: tf.data.Dataset.from_tensor_slices(LINES),
    "batches": lambda: tf.data.Dataset.from_tensor_slices(LINES).batch(2),
    "many": lambda: iter([*LINES, *[""] * 5000]),
}


@pytest.mark.parametrize("texts", SOURCES.values(), ids=SOURCES)
def test_learns_from(texts):
    expected = ks.text.Words.learn(LINES).vocabulary
    assert ks.text.Words.learn(texts()).vocabulary == expected


@pytest.mark.parametrize("kind", KINDS)
def test_learns_the_normalised_text(kind):
    options = {"lowercase": True, "normalization": "nfkc"}
    text = learn(kind, ["ﬁsh FISH"] * 4, **options)
    assert text.get_config().items() >= options.items()
    assert not any(c.isupper() or c == "ﬁ" for p in text.vocabulary[4:] for c in p)


def test_learns_from_files(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffa b\r\nc\n".encode() + b"\n\xff")
    with gzip.open(tmp_path / "b", "wb") as file:
        file.write("ä b".encode())
    both = [tmp_path / "a.txt", str(tmp_path / "b")]
    words = ks.text.Words.learn_from_files(both, lowercase=True)
    assert words.vocabulary[4:] == ("b", "a", "c", "ä", "\ufffd")
    assert words.lowercase
    one = ks.text.Characters.learn_from_files(both[0], 7)
    assert one.vocabulary_size == 7


def test_surrogates_and_work_without_tensorflow_text(monkeypatch):
    # A lone surrogate is U+FFFD; two that belong together are one character.
    texts = ["a \udcff", "\ud83d\ude00", np.array(["\ud800"], object)]
    learned = ks.text.Words.learn(texts).vocabulary[4:]
    assert learned == ("\ufffd", "a", "\N{GRINNING FACE}")
    assert ks.text.Words.learn(["\udcff"]).encode("\ud800").numpy().tolist() == [4]
    monkeypatch.setitem(__import__("sys").modules, "tensorflow_text", None)
    for cls in (ks.text.Words, ks.text.Characters):
        text = cls.learn(["A b"], lowercase=True)
        assert text.decode(text.encode("b A")).numpy() == b"b a"
        assert text.encode_with_offsets("b A").ends[-1] == 3


@pytest.mark.product
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_comes_back(kind, options, tmp_path):
    text = learned(kind, **options)
    text.save(tmp_path / "new" / "folder")
    loaded = ks.text.TextProcessor.load(tmp_path / "new" / "folder")
    assert type(loaded) is type(text)
    assert loaded.vocabulary == text.vocabulary
    assert loaded.get_config() == text.get_config()
    assert loaded.encode(ALL).to_list() == text.encode(ALL).to_list()


def test_options_and_odd_characters_come_back_and_saving_replaces(tmp_path):
    model = learned("unigram")._to_bytes()
    ks.text.SentencePiece(model, nbest_size=8, alpha=0.3).save(tmp_path)
    loaded = ks.text.SentencePiece.load(str(tmp_path))
    assert (loaded.nbest_size, loaded.alpha) == (8, 0.3)
    text = ks.text.Characters.learn(["\n\r\\n\u2028\x85\x1c"])
    text.save(tmp_path)
    assert ks.text.Characters.load(tmp_path).vocabulary == text.vocabulary
    lines = (tmp_path / "vocabulary.txt").read_bytes().split(b"\n")
    assert len(lines) == text.vocabulary_size + 1 and lines[-1] == b""
    learned("Words").save(tmp_path)
    learned("Characters").save(tmp_path)
    assert type(ks.text.TextProcessor.load(tmp_path)) is ks.text.Characters


class Letters(ks.text.Characters):
    """A custom processor."""


def test_own_class_comes_back(tmp_path):
    Letters.learn(["a"]).save(tmp_path)
    assert type(ks.text.TextProcessor.load(tmp_path)) is Letters
    config = {"normalization": None, "lowercase": False}
    expected = {"class_name": "Letters", "config": config, "vocabulary_size": 5}
    assert json.loads((tmp_path / "text.json").read_text()) == expected
