"""Tokens have byte offsets in the original text, after any normalisation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.text.learned import KINDS, OPTIONS, SPACES, batches, few, learned, strings

MARK = "▁"


def spans(text, *raw):
    """(piece, the bytes it stands for) of each token of the texts."""
    raw = [each if isinstance(each, bytes) else each.encode() for each in raw]
    _, pieces, starts, ends = (x.to_list() for x in text.encode_with_offsets(raw))
    return [
        (piece.decode(), each[start:end])
        for each, *row in zip(raw, pieces, starts, ends, strict=True)
        for piece, start, end in zip(*row, strict=True)
    ]


def characters(raw, **options):
    text = ks.text.Characters.learn([raw], **options)
    return [
        (piece, span.decode("utf-8", "replace")) for piece, span in spans(text, raw)
    ]


def test_words_without_the_space_between():
    raw = "  the\tcat\u00a0 sat "
    words = [("the", b"the"), ("cat", b"cat"), ("sat", b"sat")]
    assert spans(ks.text.Words.learn([raw]), raw) == words
    marked = [(MARK + piece, span) for piece, span in words]
    assert spans(ks.text.WordPiece.learn([raw], 30), raw) == marked


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_subwords_without_the_space_between(kind):
    raw = "the  cat \t sat"
    for piece, span in spans(learned(kind), raw):
        assert span.decode() == piece.replace(MARK, "")


NFKC = {"normalization": "nfkc"}
FOLDED = {"normalization": "nfkc_casefold"}
CASES = {
    "ligature": ("ﬁx", NFKC, [("f", "ﬁ"), ("i", "ﬁ"), ("x", "x")]),
    "composed": ("e\u0301x", NFKC, [("é", "e\u0301"), ("x", "x")]),
    "reordered": (
        "q\u0307\u0323x",
        NFKC,
        [
            ("q", "q"),
            ("\u0323", "\u0307\u0323"),
            ("\u0307", "\u0307\u0323"),
            ("x", "x"),
        ],
    ),
    "jamo": ("\u1100\u1161\u11a8x", NFKC, [("각", "\u1100\u1161\u11a8"), ("x", "x")]),
    "halfwidth": ("ﾊﾟx", NFKC, [("パ", "ﾊﾟ"), ("x", "x")]),
    "neighbours": ("ﬁﬁ", NFKC, [("f", "ﬁ"), ("i", "ﬁ"), ("f", "ﬁ"), ("i", "ﬁ")]),
    "sharp s": ("aßb", FOLDED, [("a", "a"), ("s", "ß"), ("s", "ß"), ("b", "b")]),
    "ignored": ("a\u00adb", FOLDED, [("a", "a"), ("b", "b")]),
    "shorter": ("\u212ax", {"lowercase": True}, [("k", "\u212a"), ("x", "x")]),
    "longer": ("Ⱥx", {"lowercase": True}, [("ⱥ", "Ⱥ"), ("x", "x")]),
    "no capital": (
        "J\u030cx",
        {"lowercase": True, **NFKC},
        [("ǰ", "J\u030c"), ("x", "x")],
    ),
    "capitals inside": ("㎆", {"lowercase": True, **NFKC}, [("m", "㎆"), ("b", "㎆")]),
}


@pytest.mark.parametrize("raw, options, expected", CASES.values(), ids=CASES)
def test_changed_characters(raw, options, expected):
    assert characters(raw, **options) == expected


def test_invalid_bytes():
    raw = b"a\xffb\xe2\x82"
    assert spans(ks.text.Characters.learn([raw]), raw) == [
        ("a", b"a"),
        ("\ufffd", b"\xff"),
        ("b", b"b"),
        ("\ufffd", b"\xe2\x82"),
    ]


@pytest.mark.product
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@few
@given(texts=batches)
def test_spans_cover_the_text_in_order(kind, options, texts):
    text = learned(kind, **options)
    tokens = text.encode_with_offsets(texts)
    for raw, starts, ends in zip(texts, tokens.starts, tokens.ends, strict=True):
        starts, ends = starts.numpy().tolist(), ends.numpy().tolist()
        assert starts == sorted(starts) and ends == sorted(ends)
        bounds = list(zip(starts, ends, strict=True))
        assert all(start <= end for start, end in bounds)
        uncovered = bytearray(raw.encode())
        for start, end in bounds:
            uncovered[start:end] = b" " * (end - start)
        # White space has no token, nor has what folding ignores.
        assert not uncovered.decode().strip(SPACES + "\0\u00ad\u200b")


@pytest.mark.product
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@few
@given(texts=batches)
def test_spans_normalise_to_the_piece(kind, options, texts):
    text = learned(kind, **options)
    pairs = [pair for pair in spans(text, *texts) if pair[0] != "<unk>"]
    normal = strings(text.normalize([span for _, span in pairs]))
    for (piece, _), whole in zip(pairs, normal, strict=True):
        assert piece.removeprefix(MARK) in whole


@pytest.mark.parametrize("kind", ["WordPiece", "bpe"])
@given(raw=st.text(st.sampled_from("The cat, Sat."), max_size=20))
def test_spans_spell_the_piece(kind, raw):
    for piece, span in spans(learned(kind, lowercase=True), raw):
        if piece != "<unk>":
            assert span.decode().lower() == piece.removeprefix(MARK)
