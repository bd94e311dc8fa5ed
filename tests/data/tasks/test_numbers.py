"""The task numbers: its words, and the numbers that are always in training."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.data.tasks import numbers


def test_words():
    task = numbers(below=1_000, train=500, validation=50, test=50)
    assert dict(task.train)["siebzehn"] == "seventeen"
    assert task.description == (
        "numbers below 1000: zweihundertdrei to two hundred and three"
    )


@pytest.mark.parametrize("source, target", [("digits", "pt_BR"), ("ja", "digits")])
def test_languages(source, target):
    task = numbers(source, target, train=200, validation=5, test=5)
    assert {"digits": "21", "ja": "二十一"}[source] == task.train.source[21]
    assert {"digits": "21", "pt_BR": "vinte e um"}[target] == task.train.target[21]


@given(st.data())
def test_draw(data):
    train, validation, test = (data.draw(st.integers(1, 300)) for _ in range(3))
    below = 100 + train + validation + test + data.draw(st.integers(0, 1_000_000))
    task = numbers(
        "digits", "digits", below, train, validation, test, data.draw(st.integers(0))
    )
    held_out = task.validation.source + task.test.source
    drawn = list(map(int, task.train.source + held_out))
    assert [len(task.train), len(task.validation), len(task.test)] == [
        train,
        validation,
        test,
    ]
    assert len(set(drawn)) == len(drawn)
    assert 0 <= min(drawn) and max(drawn) < below
    assert min(map(int, held_out)) >= 100
    assert drawn[: min(100, train)] == list(range(min(100, train)))
