"""Tokens as text for a terminal, and their width in columns."""

import unicodedata

_SYMBOLS = {"</s>": "⏎", "<unk>": "⁇"}  # one column, as wide as a character
_CONTROL = {**{code: chr(0x2400 + code) for code in range(32)}, 127: "␡"}
_VARIANTS = "\ufe0e\ufe0f"  # text or emoji: terminals disagree about the width


def clusters(token):
    """Return the visible characters of a token, each with its combining marks.

    White space becomes ␣. Control characters are escaped. A mark without a character
    before it gets the base ◌.

    Args:
        token: str.

    Returns:
        List of str.
    """
    visible = []
    for character in _SYMBOLS.get(token, token):
        if columns(character):
            visible += _visible(character)
        elif character not in _VARIANTS:
            visible[-1:] = [(visible[-1] if visible else "◌") + character]
    return visible


def columns(text):
    """Return the number of terminal columns of a text without control characters."""
    return sum(map(_columns, text))


def _columns(character):
    """Return the columns of a character.

    East Asian wide characters have two, combining marks and vowels of Hangul none.
    Characters of ambiguous width, such as ␣ and ░, have one, as outside of East Asia.
    """
    if (
        unicodedata.category(character) in ("Mn", "Me")
        or "\u1160" <= character <= "\u11ff"
    ):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _visible(character):
    if unicodedata.category(character) == "Zs":
        return "␣"
    if character.isprintable():
        return character
    code = ord(character)
    return _CONTROL.get(code) or character.encode("unicode_escape").decode()
