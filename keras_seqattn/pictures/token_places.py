"""The places of tokens in their text, in code points."""

import numpy as np

from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.processor import UNKNOWN

MARK = "▁"  # subwords write it for the space before them
_PAD, _START, END, _UNK = SPECIAL


def from_bytes(text, tokens):
    """Convert the places of tokens from bytes of UTF-8 to code points.

    Args:
        text: str.
        tokens: `(piece, start, end)`.

    Returns:
        List of `[piece, start, end]`, code points.

    Example:
        >>> from_bytes("Ève", [("è", 0, 2), ("ve", 2, 4)])
        [['è', 0, 1], ['ve', 1, 3]]
    """
    sizes = [len(character.encode(errors="replace")) for character in text]
    bounds = np.cumsum([0, *sizes])
    starts = np.searchsorted(bounds, [start for _, start, _ in tokens], "right") - 1
    ends = np.searchsorted(bounds, [end for _, _, end in tokens], "left")
    ends = np.minimum(ends, len(text))
    places = zip(tokens, starts.tolist(), ends.tolist(), strict=True)
    return [[token[0], start, end] for token, start, end in places]


def in_text(text, pieces):
    """Find the places of pieces in their text, from left to right.

    White space before a piece is not part of it. Pieces that are not in the text
    (bytes of a character, normalised characters) share the text between their
    neighbours. The end token comes after the text.

    Args:
        text: str, the text of the pieces together.
        pieces: list of str.

    Returns:
        List of `[piece, start, end]`, code points.

    Example:
        >>> in_text("Un été.", ["▁un", "▁", "été", ".", "</s>"])
        [['▁un', 0, 2], ['▁', 0, 2], ['été', 3, 6], ['.', 6, 7], ['</s>', 7, 7]]
    """
    tokens, lost, at = [], [], 0
    for piece in pieces:
        token = [piece, at, at]
        place = _place(text, piece, at, bool(lost))
        if place is None:
            lost.append(token)
        else:
            _share(text, lost, at, place[0])
            token[1:], at = place, place[1]
            lost = []
        tokens.append(token)
    _share(text, lost, at, len(text))
    return tokens


def joined(pieces):
    """Join pieces into a text, if there is no text."""
    pieces = [piece for piece in pieces if piece not in (_PAD, _START, END)]
    if any(MARK in piece for piece in pieces):
        return "".join(pieces).replace(MARK, " ").strip()
    return " ".join(pieces)


def _place(text, piece, at, ahead):
    """Return the place of a piece: at `at`, or with `ahead` anywhere after it."""
    behind_space = at + len(text[at:]) - len(text[at:].lstrip())
    body = UNKNOWN if piece == _UNK else piece.lstrip(MARK).replace(MARK, " ")
    for spelled, start in ((piece, at), (body, at), (body, behind_space)):
        if spelled and text.startswith(spelled, start):
            return start, start + len(spelled)
    if piece == END:
        return len(text), len(text)
    if piece in (_PAD, _START) or not (body or ahead):
        return at, at
    start = text.find(body, at) if body and ahead else -1
    return None if start < 0 else (start, start + len(body))


def _share(text, tokens, start, end):
    """Give all tokens the text between two places, without the white space around."""
    between = text[start:end]
    start += len(between) - len(between.lstrip())
    for token in tokens:
        token[1:] = start, start + len(between.strip())
