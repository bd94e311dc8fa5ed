"""Places of tokens, from byte offsets and from the text."""

import hypothesis
import pytest
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.pictures.token_places import from_bytes, in_text, joined

TEXTS = ["un été à Köln", "Ève, 東京 und 🦊", "naïve — «ça»?", "Köln am Rhein"]


@pytest.mark.parametrize(
    "text, tokens, expected",
    [
        ("abc", [("a", 0, 1), ("bc", 1, 3)], [["a", 0, 1], ["bc", 1, 3]]),
        ("é東🦊!", [("x", 0, 2), ("y", 2, 9), ("!", 9, 10)], [(0, 1), (1, 3), (3, 4)]),
        ("a", [("</s>", 1, 1)], [(1, 1)]),
        ("é", [("first byte", 0, 1), ("second", 1, 2)], [(0, 1), (0, 1)]),
        ("a", [("beyond", 0, 9)], [(0, 1)]),
        ("", [], []),
    ],
)
def test_from_bytes(text, tokens, expected):
    found = from_bytes(text, tokens)
    assert [tuple(x[1:]) for x in found] == [tuple(x[-2:]) for x in expected]
    assert [x[0] for x in found] == [x[0] for x in tokens]


@pytest.mark.parametrize(
    "text, pieces, expected",
    [
        ("the hat", "▁the ▁h at </s>", "0:3 4:5 5:7 7:7"),
        ("the hat", "▁the ▁ hat", "0:3 3:3 4:7"),  # a mark alone is nothing
        ("ab  c", "ab c </s>", "0:2 4:5 5:5"),
        ("⁇ b ⁇", "<unk> b ▁⁇ </s>", "0:1 2:3 4:5 5:5"),
        ("é!", "<0xC3> <0xA9> !", "0:1 0:1 1:2"),  # bytes of one character
        ("a é b", "▁a <0xC3> <0xA9> ▁b", "0:1 2:3 2:3 4:5"),
        ("The cat", "the cat", "0:3 4:7"),  # written small
        ("The cat", "the dog </s>", "0:7 0:7 7:7"),  # nothing is where it should be
        ("", "no words </s>", "0:0 0:0 0:0"),
        ("<s> </s>", "<s> </s> </s>", "0:3 4:8 8:8"),  # written by a user
        ("ab", "<s> a <pad> b", "0:0 0:1 1:1 1:2"),
        ("a▁b", "a ▁ b", "0:1 1:2 2:3"),  # a character as any other
    ],
)
def test_in_text(text, pieces, expected):
    pieces = pieces.split(" ")
    found = in_text(text, pieces)
    assert [f"{start}:{end}" for _, start, end in found] == expected.split()
    assert [piece for piece, _, _ in found] == pieces


def test_spaces_are_characters_for_characters():
    assert in_text("a b", ["a", " ", "b"]) == [["a", 0, 1], [" ", 1, 2], ["b", 2, 3]]


@pytest.mark.parametrize(
    "learn",
    [
        lambda: ks.text.Characters.learn(TEXTS),
        lambda: ks.text.Words.learn(TEXTS),
        lambda: ks.text.WordPiece.learn(TEXTS, 60),
        lambda: ks.text.SentencePiece.learn(TEXTS, 35),
        lambda: ks.text.SentencePiece.learn(TEXTS, 40, kind="bpe"),
    ],
)
def test_it_finds_what_the_processor_knows(learn):
    """Where a text is read as it stands, both ways to the places agree."""
    processor = learn()
    encoded = processor.encode_with_offsets(TEXTS)
    for n, text in enumerate(TEXTS):
        pieces, starts, ends = (x[n].numpy().tolist() for x in encoded[1:])
        pieces = [piece.decode() for piece in pieces]
        assert processor.decode(encoded.ids[n]).numpy().decode() == text
        known = from_bytes(text, list(zip(pieces, starts, ends, strict=True)))
        found = in_text(text, pieces)
        empty = [p for p, start, end in known if start == end]  # a space alone
        assert set(empty) <= {"▁"}
        assert [x for x in found if x[0] != "▁"] == [x for x in known if x[0] != "▁"]


@hypothesis.given(st.text(), st.lists(st.text()))
def test_places_are_in_the_text(text, pieces):
    places = [(start, end) for _, start, end in in_text(text, pieces)]
    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert places == sorted(places)


def test_joined():
    assert joined(["▁the", "▁h", "at", "</s>"]) == "the hat"
    assert joined(["<s>", "the", "hat", "</s>", "<pad>"]) == "the hat"
    assert joined([]) == ""
