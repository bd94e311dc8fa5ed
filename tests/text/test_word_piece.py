"""WordPiece: the longest piece that fits, from left to right."""

from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.text.learned import ALL, learned, strings

PIECES = ["▁", "▁un", "▁unable", "a", "ab", "b", "le", "l", "e", "un", "n", "u", "##b"]


def longest_first(word, pieces):
    """Greedy by definition; None where a piece is missing."""
    rest, found = "▁" + word, []
    while rest:
        fits = [piece for piece in pieces if rest.startswith(piece)]
        if not fits:
            return ["<unk>"]
        found.append(max(fits, key=len))
        rest = rest[len(found[-1]) :]
    return found


@given(words=st.lists(st.text(st.sampled_from("unable#x"), min_size=1, max_size=9)))
def test_longest_piece_first(words):
    text = ks.text.WordPiece(["<pad>", "<s>", "</s>", "<unk>", *PIECES])
    expected = [piece for word in words for piece in longest_first(word, PIECES)]
    assert strings(text.pieces(text.encode(" ".join(words)))) == expected


def test_punctuation_comes_back_where_it_was():
    raw = "the cat's hat, (the) bat!"
    text = ks.text.WordPiece.learn([raw], 40)
    assert text.decode(text.encode(raw)).numpy().decode() == raw


def test_unknown_word_as_a_whole():
    text = learned("WordPiece")
    tokens = text.encode_with_offsets("the cЖt sat")
    assert tokens.ids.numpy().tolist().count(3) == 1
    at = tokens.ids.numpy().tolist().index(3)
    assert (tokens.starts[at], tokens.ends[at]) == (4, 8)


def test_all_characters_and_frequent_words():
    text = ks.text.WordPiece.learn(["aab aab aab aac"] * 5, 10)
    assert {"a", "b", "c", "▁", "▁aab"} <= set(text.vocabulary)
    assert text.vocabulary_size <= 10
    assert (
        text.vocabulary
        == ks.text.WordPiece.learn(["aab aab aab aac"] * 5, 10).vocabulary
    )


def test_size_is_a_limit():
    for size in (80, 90, 120):
        assert ks.text.WordPiece.learn(ALL, size).vocabulary_size <= size
