"""A processor is loaded as it was saved, or the error says what is wrong."""

import json

import pytest

import keras_seqattn as ks
from tests.text.learned import ALL, KINDS, OPTIONS, learned


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


def test_sampling_options_come_back(tmp_path):
    text = ks.text.SentencePiece(
        learned("unigram")._to_bytes(), nbest_size=8, alpha=0.3
    )
    text.save(tmp_path)
    loaded = ks.text.SentencePiece.load(str(tmp_path))
    assert (loaded.nbest_size, loaded.alpha) == (8, 0.3)


def test_characters_that_a_file_of_lines_cannot_hold(tmp_path):
    text = ks.text.Characters.learn(["\n\r\\n\u2028\x85\x1c"])
    text.save(tmp_path)
    assert ks.text.Characters.load(tmp_path).vocabulary == text.vocabulary
    lines = (tmp_path / "vocabulary.txt").read_bytes().split(b"\n")
    assert len(lines) == text.vocabulary_size + 1 and lines[-1] == b""


def test_saving_again_replaces(tmp_path):
    learned("Words").save(tmp_path)
    learned("Characters").save(tmp_path)
    assert type(ks.text.TextProcessor.load(tmp_path)) is ks.text.Characters


class Letters(ks.text.Characters):
    """A custom processor."""


def test_own_class_comes_back(tmp_path):
    Letters.learn(["a"]).save(tmp_path)
    assert type(ks.text.TextProcessor.load(tmp_path)) is Letters
    assert json.loads((tmp_path / "text.json").read_text()) == {
        "class_name": "Letters",
        "config": {"normalization": None, "lowercase": False},
        "vocabulary_size": 5,
    }
