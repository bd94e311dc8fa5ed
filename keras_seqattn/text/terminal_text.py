"""How a token looks in a terminal, and how many columns it takes."""

import unicodedata

_SYMBOLS = {"</s>": "⏎", "<unk>": "⁇"}  # one column, so that characters stay in line
_CONTROL = {**{code: chr(0x2400 + code) for code in range(32)}, 127: "␡"}
_VARIANTS = "\ufe0e\ufe0f"  # text or emoji: terminals disagree about the width


def clusters(token):
    """A token as it is shown, each character together with the marks on it.

    White space is ␣. What a terminal would obey instead of show is escaped, and what
    has no width of its own gets a base ◌.

    Args:
        token: str.

    Returns:
        List of str.
    """
    found = []
    for character in _SYMBOLS.get(token, token):
        if columns(character):
            found += _visible(character)
        elif character not in _VARIANTS:
            found[-1:] = [(found[-1] if found else "◌") + character]
    return found


def columns(text):
    """Number of terminal columns of a text that has nothing to escape."""
    return sum(map(_columns, text))


def _columns(character):
    """East Asian wide characters have two, combining marks and vowels of Hangul none.

    Of ambiguous width there are ␣, ░ and many more: one column, as outside of East
    Asia.
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
