"""Reverse and sort: random sequences, none twice."""

from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.data.tasks import reverse, sort

SYMBOLS = st.text(st.sampled_from("abcαβγ0123#+"), min_size=2).filter(
    lambda text: len(set(text)) == len(text)
)
SPLITS = ("train", "validation", "test")


def test_same_sequences_for_ever():
    assert reverse().test[0] == ("zunhghbt", "tbhghnuz")
    assert sort().test[0] == ("zunhghbt", "bghhntuz")


def test_order_is_that_of_the_symbols():
    task = sort(symbols="cab", lengths=(4, 8), train=90, validation=5, test=5)
    assert all(
        target
        == "c" * source.count("c") + "a" * source.count("a") + "b" * source.count("b")
        for split in SPLITS
        for source, target in getattr(task, split)
    )


def test_short_sequences_are_learned_too():
    lengths = list(map(len, reverse().train.source))
    assert lengths.count(1) > 20  # of 26
    assert all(lengths.count(n) > 1_500 for n in range(3, 13))


@given(SYMBOLS, st.integers(1, 6), st.integers(0, 6), st.integers(0), st.data())
def test_draw(symbols, shortest, more, seed, data):
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
