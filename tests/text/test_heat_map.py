"""The heat map against drawings made by hand."""

import io
import re
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.text.terminal_heat_map import RAMP
from keras_seqattn.text.terminal_text import clusters, columns

TOKENS = st.lists(st.text(max_size=30), min_size=1, max_size=8)


def plain(source, target, alignment=None, width=80, **options):
    alignment = np.eye(len(target), len(source)) if alignment is None else alignment
    return ks.text.heat_map(
        source, target, alignment, **{"color": False, "width": width, **options}
    )


# Layout -------------------------------------------------------------------------------


def test_characters_are_single_columns():
    assert plain([*"1 Mai", "</s>"], ["5", "-", "0", "1", "</s>"]).splitlines() == [
        "  1␣Mai⏎",
        "5│█     │",
        "-│ █    │",
        "0│  █   │",
        "1│   █  │",
        "⏎│    █ │",
    ]


def test_words_are_as_wide_as_they_are():
    alignment = [[0.12, 0.13, 0.37], [0.38, 0.62, 0.63], [0.87, 0.88, 1.0]]
    drawn = plain(["▁der", "▁alte", "Baum"], ["the", "old", "tree"], alignment)
    assert drawn.splitlines() == [
        "     ▁der ▁alte Baum",
        " the│     ░░░░░░░░░░░│",
        " old│▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓│",
        "tree│▓▓▓▓▓███████████│",
    ]


def test_words_stand_upright_where_room_is_short():
    assert plain(["in", "die", "."], ["to", "the", "."], width=13).splitlines() == [
        "      d",
        "    i i",
        "    n e .",
        " to│██    │",
        "the│  ██  │",
        "  .│    ██│",
    ]


def test_a_width_that_is_just_enough():
    one = plain("abcde", "xyz", width=8)
    assert one.count("│") == 6 and max(map(len, one.splitlines())) == 8
    assert plain("abcde", "xyz", width=7).split("\n\n") == [
        "  abcd\nx│█   │\ny│ █  │\nz│  █ │",
        "  e\nx│ │\ny│ │\nz│ │",
    ]
    assert len(plain("abcde", "xyz", width=1).split("\n\n")) == 5


def test_the_terminal_has_a_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "7")
    assert plain("abcde", "xyz", width=None) == plain("abcde", "xyz", width=7)


def test_nothing_to_draw():
    assert plain([], ["a"], np.zeros((1, 0))) == ""
    assert plain(["a"], [], np.zeros((0, 1))) == " a"


# Tokens -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token, shown, size",
    [
        ("naïve", "naïve", 5),
        ("nai\u0308ve", "nai\u0308ve", 5),  # a mark on the letter before it
        ("\u0301", "◌\u0301", 1),  # alone
        ("中国", "中国", 4),
        ("ｱ", "ｱ", 1),
        ("Ａ", "Ａ", 2),
        ("\u1112\u1161\u11ab", "\u1112\u1161\u11ab", 2),  # han, of three letters
        ("ক্ষ", "ক্ষ", 2),
        ("🎉", "🎉", 2),
        ("❤\ufe0f", "❤", 1),
        ("\ufe0f", "", 0),
        (" ", "␣", 1),
        ("a b\u3000c\xa0", "a␣b␣c␣", 6),
        ("\t\n\x00\x7f", "␉␊␀␡", 4),
        ("\x1b[31m", "␛[31m", 5),
        ("\x9b31m", r"\x9b31m", 7),  # one byte that begins a command, too
        ("\u202eabc", r"\u202eabc", 9),  # would turn the line around
        ("\u200b\u2028", r"\u200b\u2028", 12),
        ("\ud800", r"\ud800", 6),
        ("\U000e0001", r"\U000e0001", 10),
        ("</s>", "⏎", 1),
        ("<unk>", "⁇", 1),
        ("", "", 0),
    ],
)
def test_tokens_as_they_are_shown(token, shown, size):
    assert "".join(clusters(token)) == shown
    assert columns(shown) == size
    assert all(columns(cluster) in (1, 2) for cluster in clusters(token))


def test_wide_characters_have_wide_cells():
    assert plain("中a国", ["x", "漢字", "z"]).splitlines() == [
        "     中a国",
        "   x│██   │",
        "漢字│  █  │",
        "   z│   ██│",
    ]


def test_wide_and_marked_characters_stand_upright():
    drawn = plain(["中国", "e\u0301a", "x" * 9], ["a", "b", "c"], width=10)
    assert drawn.splitlines()[-5:] == [
        "  中e\u0301 x",
        "  国a x",
        "a│██    │",
        "b│  ██  │",
        "c│    ██│",
    ]


def test_long_tokens_are_cut():
    drawn = plain(["x" * 24, "y" * 25], ["国" * 13, "z" * 300]).splitlines()
    assert drawn[0].split() == ["x" * 24, "y" * 23 + "…"]
    assert drawn[1].startswith(" " + "国" * 11 + "…│██")
    assert drawn[2].startswith("z" * 23 + "…│  ")


@given(TOKENS, TOKENS, st.integers(51, 100), st.booleans())
def test_whatever_the_tokens_are(source, target, width, color):
    """Lines have one width, and nothing reaches the terminal but colours."""
    drawn = plain(source, target, width=width, color=color)
    text = re.sub(r"\x1b\[(48;5;\d+|0)m", "", drawn)
    for character in text.replace("\n", ""):
        assert character == " " or unicodedata.category(character)[0] not in "CZ"
    for block in text.split("\n\n"):
        lines = block.split("\n")
        [size] = set(map(columns, lines[-len(target) :]))
        assert max(map(columns, lines)) <= size <= width


# Colour -------------------------------------------------------------------------------


def test_colours():
    drawn = plain(["le", "chat"], ["the"], [[0.0, 1.0]], color=True)
    low, high = f"\x1b[48;5;{RAMP[0]}m", f"\x1b[48;5;{RAMP[-1]}m"
    assert drawn == f"    le chat\nthe {low}   {high}     \x1b[0m"


def test_like_cells_share_a_code():
    assert plain("abcd", "x", [[0.0, 0.0, 1.0, 1.0]], color=True).count("\x1b") == 3


def test_colours_are_lighter_the_higher():
    def lightness(code):
        if code >= 232:
            return 8 + 10 * (code - 232)
        red, green, blue = np.array([0, 95, 135, 175, 215, 255])[
            [(code - 16) // 36, (code - 16) // 6 % 6, (code - 16) % 6]
        ]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert np.all(np.diff([lightness(code) for code in RAMP[1:]]) > 0)


@pytest.mark.parametrize(
    "terminal, no_color, colored",
    [(True, None, True), (True, "", True), (True, "1", False), (False, None, False)],
)
def test_colours_by_themselves(monkeypatch, terminal, no_color, colored):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    output = io.StringIO()
    output.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stdout", output)
    assert ("\x1b" in ks.text.heat_map("ab", "ab", np.eye(2))) == colored


# Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, options, text",
    [
        (
            ("ab", "abc", np.eye(2)),
            {},
            "heat_map got an alignment that does not fit its tokens. Expected [target, "
            "source] = (3, 2), received shape (2, 2). Cut off the padding, and take "
            "the mean over heads.",
        ),
        (
            ("ab", "ab", np.ones((1, 2, 2))),
            {},
            "heat_map got an alignment that does not fit its tokens. Expected [target, "
            "source] = (2, 2), received shape (1, 2, 2). Cut off the padding, and take "
            "the mean over heads.",
        ),
        (
            ("ab", "a", [[-3.5, 12.0]]),
            {},
            "heat_map got numbers that are not an alignment. Expected numbers from "
            "0 to 1, received -3.5 to 12. Pass the alignment of an attention "
            "mechanism, after the softmax.",
        ),
        (
            ("ab", "a", [[0.0, np.nan]]),
            {},
            "heat_map got numbers that are not an alignment. Expected numbers from "
            "0 to 1, received nan to nan. Pass the alignment of an attention "
            "mechanism, after the softmax.",
        ),
        (
            ([ks.translator.Token("a", 0, 1)], "a", [[1.0]]),
            {},
            "heat_map got unusable source_tokens. Expected a list of str, received "
            "a list with Token(piece='a', start=0, end=1). Decode bytes; for a "
            "Translation, call its heat_map, or pass the pieces of its "
            "source_tokens.",
        ),
        (
            ("a", [b"a"], [[1.0]]),
            {},
            "heat_map got unusable target_tokens. Expected a list of str, received "
            "a list with b'a'. Decode bytes; for a Translation, call its heat_map, "
            "or pass the pieces of its source_tokens.",
        ),
        (
            ("a", "a", [[1.0]]),
            {"color": "always"},
            'heat_map got an unknown color. Expected True, False or "auto", '
            "received color='always'. Pass color=\"auto\" for colours in terminals "
            "only.",
        ),
        (
            ("a", "a", [[1.0]]),
            {"width": 0},
            "heat_map got an unusable width. Expected a positive integer or None, "
            "received width=0. Pass the number of terminal columns.",
        ),
    ],
)
def test_errors(arguments, options, text):
    with pytest.raises(ValueError) as caught:
        ks.text.heat_map(*arguments, **options)
    assert str(caught.value) == text


def test_half_precision_is_an_alignment():
    assert plain("a", "a", np.array([[1.0005]], "float32")) == "  a\na│█│"
