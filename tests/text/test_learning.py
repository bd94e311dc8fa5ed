"""Learning of vocabularies: the texts, and the tokens."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.text.learned import KINDS, learn

LINES = ["b a c", "a b", "a"]


def test_words_by_falling_count():
    assert ks.text.Words.learn(LINES).vocabulary[4:] == ("a", "b", "c")
    assert ks.text.Words.learn(LINES, 6).vocabulary[4:] == ("a", "b")
    assert ks.text.Words.learn(LINES, minimum_count=3).vocabulary[4:] == ("a",)


def test_characters_by_falling_count():
    assert ks.text.Characters.learn(LINES).vocabulary[4:] == (" ", "a", "b", "c")
    assert ks.text.Characters.learn(LINES, 5).vocabulary[4:] == (" ",)
    assert ks.text.Characters.learn(LINES, minimum_count=2).vocabulary[4:] == (
        " ",
        "a",
        "b",
    )


def test_special_tokens_are_no_words():
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
    assert (
        ks.text.Words.learn(texts()).vocabulary == ks.text.Words.learn(LINES).vocabulary
    )


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
    one = ks.text.Characters.learn_from_files(both[0], 6)
    assert one.vocabulary_size == 6


def test_surrogates():
    """A lone one is U+FFFD; two that belong together are one character."""
    texts = ["a \udcff", "\ud83d\ude00", np.array(["\ud800"], object)]
    learned = ks.text.Words.learn(texts).vocabulary[4:]
    assert learned == ("\ufffd", "a", "\N{GRINNING FACE}")
    assert ks.text.Words.learn(["\udcff"]).encode("\ud800").numpy().tolist() == [4]


def test_without_tensorflow_text(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tensorflow_text", None)
    for cls in (ks.text.Words, ks.text.Characters):
        text = cls.learn(["A b"], lowercase=True)
        assert text.decode(text.encode("b A")).numpy() == b"b a"
        assert text.encode_with_offsets("b A").ends[-1] == 3
