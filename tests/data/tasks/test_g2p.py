"""The task g2p: a word may have several right pronunciations."""

import re

import pytest

from keras_seqattn.data.tasks import g2p


@pytest.fixture(scope="module")
def everything():
    return g2p(validation=100, test=30_000)


def test_words_references_and_phonemes(everything):
    assert len({*everything.train.source}) == 124_926 - 30_100
    assert len(everything.train) > 100_000  # some have several pronunciations
    several = [texts for texts in everything.references["test"] if len(texts) > 1]
    assert len(several) > 1_000
    assert all(len(set(texts)) == len(texts) for texts in several)
    phonemes = set(" ".join(everything.train.target).split())
    assert len(phonemes) == 39
    assert all(phoneme.isalpha() for phoneme in phonemes)


def test_with_stress():
    task = g2p(use_stress=True, train=3_000, validation=5, test=5)
    assert len(task.train) > 3_000
    assert all(re.search("[012]", text) for text in task.train.target if " " in text)
    same = g2p(train=3_000, validation=5, test=5)
    assert {*same.train.source} == {*task.train.source}
