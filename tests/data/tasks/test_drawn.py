"""Reverse and sort: random sequences; numbers: small ones are always in training."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.data.tasks import numbers, reverse, sort

SYMBOLS = st.text(st.sampled_from("abcαβγ0123#+"), min_size=2).filter(
    lambda text: len(set(text)) == len(text)
)
SPLITS = ("train", "validation", "test")


def test_same_sequences_for_ever_in_the_order_of_the_symbols_short_ones_too():
    assert reverse().test[0] == ("zunhghbt", "tbhghnuz")
    assert sort().test[0] == ("zunhghbt", "bghhntuz")
    task = sort(symbols="cab", lengths=(4, 8), train=90, validation=5, test=5)
    for split in SPLITS:
        for source, target in getattr(task, split):
            assert target == "".join(s * source.count(s) for s in "cab")
    lengths = list(map(len, reverse().train.source))
    assert lengths.count(1) > 20  # of 26
    assert all(lengths.count(n) > 1_500 for n in range(3, 13))


@given(SYMBOLS, st.integers(1, 6), st.integers(0, 6), st.integers(0), st.data())
def test_sequences_are_drawn_once(symbols, shortest, more, seed, data):
    longest = max(shortest + more, 3)
    most = min(len(symbols) ** longest // 2, 600)
    train = data.draw(st.integers(1, most - 2))
    validation = data.draw(st.integers(1, most - train - 1))
    test = data.draw(st.integers(1, most - train - validation))
    task = reverse(symbols, (shortest, longest), train, validation, test, seed)
    texts = [getattr(task, split).source for split in SPLITS]
    assert list(map(len, texts)) == [train, validation, test]
    drawn = sum(texts, [])
    assert len(set(drawn)) == len(drawn)
    assert all(shortest <= len(text) <= longest for text in drawn)
    assert set("".join(drawn)) <= set(symbols)


def test_numbers_are_words():
    task = numbers(below=1_000, train=500, validation=50, test=50)
    assert dict(task.train)["siebzehn"] == "seventeen"
    words = "zweihundertdrei to two hundred and three"
    assert task.description == f"numbers below 1000: {words}"


@pytest.mark.parametrize("source, target", [("digits", "pt_BR"), ("ja", "digits")])
def test_languages(source, target):
    task = numbers(source, target, train=200, validation=5, test=5)
    assert {"digits": "21", "ja": "二十一"}[source] == task.train.source[21]
    assert {"digits": "21", "pt_BR": "vinte e um"}[target] == task.train.target[21]


@given(st.data())
def test_numbers_are_drawn_once(data):
    train, validation, test = (data.draw(st.integers(1, 300)) for _ in range(3))
    below = 100 + train + validation + test + data.draw(st.integers(0, 1_000_000))
    sizes = train, validation, test
    task = numbers("digits", "digits", below, *sizes, data.draw(st.integers(0)))
    held_out = task.validation.source + task.test.source
    drawn = list(map(int, task.train.source + held_out))
    assert (len(task.train), len(task.validation), len(task.test)) == sizes
    assert len(set(drawn)) == len(drawn)
    assert 0 <= min(drawn) and max(drawn) < below
    assert min(map(int, held_out)) >= 100
    assert drawn[: min(100, train)] == list(range(min(100, train)))
