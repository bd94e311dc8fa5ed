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
from keras_seqattn.text.weight_scale import scaled

TOKENS = st.lists(st.text(max_size=30), min_size=1, max_size=8)


def plain(source, target, alignment=None, width=80, **options):
    alignment = np.eye(len(target), len(source)) if alignment is None else alignment
    options = {"color": False, "width": width, **options}
    return ks.text.heat_map(source, target, alignment, **options)


DRAWN = {
    "single columns": (
        ([*"1 Mai", "</s>"], ["5", "-", "0", "1", "</s>"]),
        ["  1␣Mai⏎", "5│█     │", "-│ █    │", "0│  █   │", "1│   █  │", "⏎│    █ │"],
    ),
    "words as wide as they are": (
        (
            ["▁der", "▁alte", "Baum"],
            ["the", "old", "tree"],
            [[0.12, 0.13, 0.37], [0.38, 0.62, 0.63], [0.87, 0.88, 1.0]],
        ),
        [
            "     ▁der ▁alte Baum",
            " the│     ░░░░░░░░░░░│",
            " old│▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓│",
            "tree│▓▓▓▓▓███████████│",
        ],
    ),
    "upright where room is short": (
        (["in", "die", "."], ["to", "the", "."], None, 13),
        [
            "      d",
            "    i i",
            "    n e .",
            " to│██    │",
            "the│  ██  │",
            "  .│    ██│",
        ],
    ),
    "wide cells of wide characters": (
        ("中a国", ["x", "漢字", "z"]),
        ["     中a国", "   x│██   │", "漢字│  █  │", "   z│   ██│"],
    ),
    "wide and marked characters, upright": (
        (["中国", "e\u0301a", "x" * 3], ["a", "b", "c"], None, 9),
        ["      x", "  中e\u0301 x", "  国a x", "a│██    │", "b│  ██  │", "c│    ██│"],
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawings(name):
    arguments, lines = DRAWN[name]
    assert plain(*arguments).splitlines() == lines


def test_a_width_that_is_just_enough_and_half_precision():
    one = plain("abcde", "xyz", width=8)
    assert one.count("│") == 6 and max(map(len, one.splitlines())) == 8
    assert plain("abcde", "xyz", width=7).split("\n\n") == [
        "  abcd\nx│█   │\ny│ █  │\nz│  █ │",
        "  e\nx│ │\ny│ │\nz│ │",
    ]
    assert len(plain("abcde", "xyz", width=1).split("\n\n")) == 5
    assert plain("a", "a", np.array([[1.0005]], "float32")) == "  a\na│█│"


ODD = [[-3.5, 12.0, 6.0], [np.nan, np.inf, 3.0]]
NOTES = (
    "The alignment is not normalised: it is scaled by its largest weight, 12.",
    "Weights below 0 are drawn as 0.",
    "Crosses: the weight is not a finite number.",
)


def test_weights_that_are_no_alignment():
    """They are scaled by the largest weight, and the drawing says so."""
    lines = ["  abc", "x│ █▒│", "y│××░│", *NOTES]
    assert plain("abc", "xy", ODD).splitlines() == lines
    colored = plain("abc", "xy", ODD, color=True).splitlines()[2]
    assert colored == f"y \x1b[48;5;{RAMP[0]}m××\x1b[48;5;{RAMP[3]}m \x1b[0m"
    values, notes = scaled(ODD)
    np.testing.assert_array_equal(values, [[0, 1, 0.5], [np.nan, np.nan, 0.25]])
    assert notes == NOTES
    assert scaled([[0.5, 1.0005, -1e-4]]).notes == scaled([[]]).notes == ()


def test_the_terminal_has_a_width_and_there_may_be_nothing_to_draw(monkeypatch):
    monkeypatch.setenv("COLUMNS", "7")
    assert plain("abcde", "xyz", width=None) == plain("abcde", "xyz", width=7)
    assert plain([], ["a"], np.zeros((1, 0))) == ""
    assert plain(["a"], [], np.zeros((0, 1))) == " a"


HAN = "\u1112\u1161\u11ab"  # of three letters
WIDTHS = {"naïve": 5, "中国": 4, "ｱ": 1, "Ａ": 2, HAN: 2, "ক্ষ": 2, "🎉": 2, "": 0}
SHOWN = [
    *[(token, token, width) for token, width in WIDTHS.items()],
    ("nai\u0308ve", "nai\u0308ve", 5),  # a mark on the letter before it
    ("\u0301", "◌\u0301", 1),  # alone
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
    *[("</s>", "⏎", 1), ("<unk>", "⁇", 1)],
]


@pytest.mark.parametrize("token, shown, size", SHOWN)
def test_tokens_as_they_are_shown(token, shown, size):
    assert "".join(clusters(token)) == shown
    assert columns(shown) == size
    assert all(columns(cluster) in (1, 2) for cluster in clusters(token))


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


def test_colours_are_lighter_the_higher():
    """Equal neighbours share a code."""
    drawn = plain(["le", "un", "chat"], ["the"], [[0.0, 0.0, 1.0]], color=True)
    low, high = f"\x1b[48;5;{RAMP[0]}m", f"\x1b[48;5;{RAMP[-1]}m"
    assert drawn == f"    le un chat\nthe {low}      {high}     \x1b[0m"

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
