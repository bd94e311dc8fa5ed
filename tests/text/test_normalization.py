"""Normalisation; tokens have byte offsets in the original text, whatever it changes."""

import unicodedata

import pytest
import tensorflow_text
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.text import learned as known

# Characters that Unicode had when ICU and Python were built: both know them.
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cn", "Cs"]))


def normalize(text, **options):
    """As `Characters` does, which keeps white space."""
    return known.learned("Characters", **options).normalize(text).numpy().decode()


@given(text=texts | known.tricky)
def test_nothing_changes_by_default(text):
    assert normalize(text) == text


@pytest.mark.parametrize("form", ["nfc", "nfkc"])
@given(text=texts | known.tricky)
def test_unicode_forms(form, text):
    expected = unicodedata.normalize(form.upper(), text)
    assert normalize(text, normalization=form) == expected


@given(text=texts | known.tricky)
def test_case_folding_and_lowercase(text):
    folded = tensorflow_text.case_fold_utf8(text).numpy().decode()
    assert normalize(text, normalization="nfkc_casefold") == folded
    expected = "".join(character.lower()[0] for character in text)
    assert normalize(text, lowercase=True) == expected


def test_lowercase_is_not_folding():
    assert normalize("GROẞE STRAßE, ΟΔΟΣ", lowercase=True) == "große straße, οδοσ"
    folded = normalize("GROẞE STRAßE, οδός", normalization="nfkc_casefold")
    assert folded == "grosse strasse, οδόσ"


@pytest.mark.product
@pytest.mark.parametrize("kind", ["Characters", "unigram", "WordPiece", "Words"])
@pytest.mark.parametrize("options", known.OPTIONS, ids=str)
@known.few
@given(texts=known.batches)
def test_twice_is_once(kind, options, texts):
    once = known.learned(kind, **options).normalize(texts)
    twice = known.learned(kind, **options).normalize(once)
    assert known.strings(twice) == known.strings(once)


@pytest.mark.parametrize("kind", ["Words", "WordPiece", "unigram"])
@given(text=st.text(st.sampled_from(" \t\n\r\u00a0\u2003\u3000\x1fab"), max_size=12))
def test_white_space_is_one_space_between_words(kind, text):
    found = known.learned(kind).normalize(text).numpy().decode()
    assert found == " ".join(text.split())


def test_invalid_bytes_become_the_replacement_character():
    raw = [b"a\xffb", b"\xc3", b"\xe2\x82a", b"\xed\xa0\x80", b"ok"]
    normal = ks.text.Characters.learn(["a"]).normalize(raw).numpy()
    assert normal.tolist() == [raw.decode("utf-8", "replace").encode() for raw in raw]


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


def test_words_without_the_space_between():
    raw = "  the\tcat\u00a0 sat "
    words = [("the", b"the"), ("cat", b"cat"), ("sat", b"sat")]
    assert spans(ks.text.Words.learn([raw]), raw) == words
    marked = [(MARK + piece, span) for piece, span in words]
    assert spans(ks.text.WordPiece.learn([raw], 30), raw) == marked


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_subwords_without_the_space_between(kind):
    raw = "the  cat \t sat"
    for piece, span in spans(known.learned(kind), raw):
        assert span.decode() == piece.replace(MARK, "")


NFKC = {"normalization": "nfkc"}
FOLDED = {"normalization": "nfkc_casefold"}
LOWER = {"lowercase": True}
MARKS = "\u0307\u0323"
CASES = {  # raw text, options, characters, and what each of them stands for
    "ligature": ("ﬁx", NFKC, "fix", "ﬁ ﬁ x"),
    "composed": ("e\u0301x", NFKC, "éx", "e\u0301 x"),
    "reordered": (f"q{MARKS}x", NFKC, "q\u0323\u0307x", f"q {MARKS} {MARKS} x"),
    "jamo": ("\u1100\u1161\u11a8x", NFKC, "각x", "\u1100\u1161\u11a8 x"),
    "halfwidth": ("ﾊﾟx", NFKC, "パx", "ﾊﾟ x"),
    "neighbours": ("ﬁﬁ", NFKC, "fifi", "ﬁ ﬁ ﬁ ﬁ"),
    "sharp s": ("aßb", FOLDED, "assb", "a ß ß b"),
    "ignored": ("a\u00adb", FOLDED, "ab", "a b"),
    "shorter": ("\u212ax", LOWER, "kx", "\u212a x"),
    "longer": ("Ⱥx", LOWER, "ⱥx", "Ⱥ x"),
    "no capital": ("J\u030cx", {**LOWER, **NFKC}, "ǰx", "J\u030c x"),
    "capitals inside": ("㎆", {**LOWER, **NFKC}, "mb", "㎆ ㎆"),
}


@pytest.mark.parametrize("name", CASES)
def test_changed_characters(name):
    raw, options, expected, standing_for = CASES[name]
    text = ks.text.Characters.learn([raw], **options)
    expected = zip(expected, standing_for.split(), strict=True)
    assert spans(text, raw) == [(piece, span.encode()) for piece, span in expected]


def test_invalid_bytes():
    raw = [b"a", b"\xff", b"b", b"\xe2\x82"]
    found = spans(ks.text.Characters.learn([b"".join(raw)]), b"".join(raw))
    assert found == [*zip("a\ufffdb\ufffd", raw, strict=True)]


@pytest.mark.product
@pytest.mark.parametrize("options", known.OPTIONS, ids=str)
@pytest.mark.parametrize("kind", known.KINDS)
@known.few
@given(texts=known.batches)
def test_spans_cover_the_text_and_normalise_to_pieces(kind, options, texts):
    text = known.learned(kind, **options)
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
        assert not uncovered.decode().strip(known.SPACES + "\0\u00ad\u200b")
    pairs = [pair for pair in spans(text, *texts) if pair[0] != "<unk>"]
    normal = known.strings(text.normalize([span for _, span in pairs]))
    for (piece, _), whole in zip(pairs, normal, strict=True):
        assert piece.removeprefix(MARK) in whole


@pytest.mark.parametrize("kind", ["WordPiece", "bpe"])
@given(raw=st.text(st.sampled_from("The cat, Sat."), max_size=20))
def test_spans_spell_the_piece(kind, raw):
    for piece, span in spans(known.learned(kind, lowercase=True), raw):
        if piece != "<unk>":
            assert span.decode().lower() == piece.removeprefix(MARK)
