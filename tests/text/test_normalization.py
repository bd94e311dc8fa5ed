"""Normalisation: Unicode forms, small letters, white space."""

import os
import subprocess
import sys
import unicodedata

import pytest
import tensorflow_text
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.text.learned import OPTIONS, batches, few, learned, strings, tricky

# Characters that Unicode had when ICU and Python were built: both know them.
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cn", "Cs"]))


def normalize(text, **options):
    """As `Characters` does, which keeps white space."""
    return learned("Characters", **options).normalize(text).numpy().decode()


@given(text=texts | tricky)
def test_nothing_changes_by_default(text):
    assert normalize(text) == text


@pytest.mark.parametrize("form", ["nfc", "nfkc"])
@given(text=texts | tricky)
def test_unicode_forms(form, text):
    assert normalize(text, normalization=form) == unicodedata.normalize(
        form.upper(), text
    )


@given(text=texts | tricky)
def test_case_folding(text):
    folded = tensorflow_text.case_fold_utf8(text).numpy().decode()
    assert normalize(text, normalization="nfkc_casefold") == folded


@given(text=texts | tricky)
def test_lowercase_is_character_by_character(text):
    expected = "".join(character.lower()[0] for character in text)
    assert normalize(text, lowercase=True) == expected


def test_lowercase_is_not_folding():
    assert normalize("GROẞE STRAßE, ΟΔΟΣ", lowercase=True) == "große straße, οδοσ"
    folded = normalize("GROẞE STRAßE, οδός", normalization="nfkc_casefold")
    assert folded == "grosse strasse, οδόσ"


@pytest.mark.product
@pytest.mark.parametrize("kind", ["Characters", "unigram", "WordPiece", "Words"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@few
@given(texts=batches)
def test_twice_is_once(kind, options, texts):
    once = learned(kind, **options).normalize(texts)
    assert strings(learned(kind, **options).normalize(once)) == strings(once)


@pytest.mark.parametrize("kind", ["Words", "WordPiece", "unigram"])
@given(text=st.text(st.sampled_from(" \t\n\r\u00a0\u2003\u3000\x1fab"), max_size=12))
def test_white_space_is_one_space_between_words(kind, text):
    assert learned(kind).normalize(text).numpy().decode() == " ".join(text.split())


def test_invalid_bytes_become_the_replacement_character():
    raw = [b"a\xffb", b"\xc3", b"\xe2\x82a", b"\xed\xa0\x80", b"ok"]
    normal = ks.text.Characters.learn(["a"]).normalize(raw).numpy()
    assert normal.tolist() == [raw.decode("utf-8", "replace").encode() for raw in raw]


@pytest.mark.slow
def test_lowercase_whatever_the_language_of_the_machine():
    code = (
        "import keras_seqattn as ks\n"
        "text = ks.text.Characters.learn(['i'], lowercase=True)\n"
        "print(text.normalize('I').numpy().decode())"
    )
    environment = {**os.environ, "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "i\n", done.stderr
