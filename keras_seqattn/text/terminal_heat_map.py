"""A heat map of an alignment, drawn with characters in the terminal."""

import itertools
import os
import shutil
import sys
from typing import NamedTuple

import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.text.terminal_text import clusters, columns
from keras_seqattn.text.weight_scale import scaled

SHADES = " ░▒▓█"
# Numbers of 256 colours, from dark to light: readable without colour vision, too.
RAMP = (235, 53, 89, 125, 161, 167, 203, 209, 215, 221, 228, 230)
LONGEST = 24  # columns of a label; a longer label is cut
_BORDER, _CUT, _CROSS = "│", "…", "×"


class _Column(NamedTuple):
    """A source token."""

    size: int  # terminal columns
    head: tuple  # str, one for each line above the map
    values: np.ndarray  # [target]


def heat_map(source_tokens, target_tokens, alignment, *, color="auto", width=None):
    """Draws an alignment as text: rows are target tokens, columns are source tokens.

    A column is as wide as its token, so that the source can be read above the map. If
    the map is too wide, source words are written from top to bottom. If it is still
    too wide, it is broken into blocks, one below the other.

    White space is shown as ␣, the end token as ⏎, an unknown token as ⁇; control
    characters are escaped.

    Args:
        source_tokens: list of str; a str is a list of characters.
        target_tokens: list of str.
        alignment: `[target, source]`. If some weights are above 1, it is scaled by
            the largest one, and a line below the map says so.
        color: True: 256 ANSI colours; False: the characters ░▒▓█; "auto": colours if
            the output is a terminal and `NO_COLOR` is not set.
        width: number of terminal columns; None: the width of the terminal.

    Returns:
        A str of several lines, without a line break at the end.

    Example:
        >>> source, target = ["chat", "noir", "</s>"], ["black", "cat", "</s>"]
        >>> alignment = [[0.1, 0.9, 0.0], [0.9, 0.1, 0.0], [0.0, 0.2, 0.8]]
        >>> print(heat_map(source, target, alignment))
              chat noir ⏎
        black│     █████  │
          cat│█████       │
            ⏎│     ░░░░░▓▓│
    """
    _check_options(color, width)
    _check_tokens("source_tokens", source_tokens)
    _check_tokens("target_tokens", target_tokens)
    _check_shape(np.shape(alignment), target_tokens, source_tokens)
    weights, notes = scaled(alignment)
    width = shutil.get_terminal_size().columns if width is None else width
    draw = _colored if _wants_color(color) else _shaded
    names = ["".join(_label(token)) for token in target_tokens]
    margin = max(map(columns, names), default=0)
    names = [" " * (margin - columns(name)) + name for name in names]
    room = width - margin - 2 * len(_BORDER)
    source = _layout([_label(token) for token in source_tokens], weights.T, room)
    blocks = (_block(block, names, margin, draw) for block in _blocks(source, room))
    return "\n".join(["\n\n".join(blocks), *notes])


# Layout -------------------------------------------------------------------------------


def _layout(labels, values, room):
    """Return the columns: labels side by side if there is room, else upright."""
    gap = int(any(len(label) > 1 for label in labels))
    heads = [("".join(label),) for label in labels]
    sizes = [max(columns(text), 1) + gap for (text,) in heads]
    if gap and sum(sizes) > room:
        height = max(map(len, labels))
        heads = [(" ",) * (height - len(label)) + tuple(label) for label in labels]
        sizes = [2] * len(labels)
    return list(map(_Column, sizes, heads, values))


def _blocks(source, room):
    """Yield lists of columns that fit into the room, at least one column in each."""
    block, size = [], 0
    for column in source:
        if block and size + column.size > room:
            yield block
            block, size = [], 0
        block.append(column)
        size += column.size
    if block:
        yield block


def _block(block, names, margin, draw):
    """Return the lines of a block: the heads, then the name and cells of each row."""
    sizes = [column.size for column in block]
    heads = zip(*(column.head for column in block), strict=True)
    lines = [
        " " * (margin + len(_BORDER)) + "".join(map(_fill, head, sizes)).rstrip()
        for head in heads
    ]
    rows = np.transpose([column.values for column in block])
    lines += [name + draw(row, sizes) for name, row in zip(names, rows, strict=True)]
    return "\n".join(lines)


def _label(token):
    """Return the clusters of a token, cut to at most `LONGEST` columns."""
    label = clusters(token)
    if columns("".join(label)) <= LONGEST:
        return label
    ends = itertools.accumulate(map(columns, label))
    return [c for c, end in zip(label, ends, strict=True) if end < LONGEST] + [_CUT]


def _fill(text, size):
    return text + " " * (size - columns(text))


# Cells --------------------------------------------------------------------------------


def _shaded(row, sizes):
    shades = (SHADES[n] if n >= 0 else _CROSS for n in _levels(row, SHADES))
    cells = (shade * size for shade, size in zip(shades, sizes, strict=True))
    return _BORDER + "".join(cells) + _BORDER


def _colored(row, sizes):
    text = ""
    pairs = zip(_levels(row, RAMP), sizes, strict=True)
    for level, same in itertools.groupby(pairs, key=lambda pair: pair[0]):
        size = sum(size for _, size in same)
        color, sign = (RAMP[level], " ") if level >= 0 else (RAMP[0], _CROSS)
        text += f"\x1b[48;5;{color}m" + sign * size
    return " " + text + "\x1b[0m"


def _levels(row, shades):
    """Return the number of the shade of each weight; -1: it is not a number."""
    levels = np.rint(row * (len(shades) - 1))
    return np.where(np.isnan(row), -1, levels).astype(int).tolist()


def _wants_color(color):
    if color == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return color


# Checks -------------------------------------------------------------------------------


def _check_options(color, width):
    if not (isinstance(color, bool) or color == "auto"):
        raise four_part_error(
            "heat_map got an unknown color",
            'True, False or "auto"',
            f"color={abbreviated(color)}",
            'Pass color="auto" for colours in terminals only',
        )
    is_count = isinstance(width, int) and not isinstance(width, bool) and width > 0
    if width is not None and not is_count:
        raise four_part_error(
            "heat_map got an unusable width",
            "a positive integer or None",
            f"width={abbreviated(width)}",
            "Pass the number of terminal columns",
        )


def _check_tokens(name, tokens):
    for token in tokens:
        if not isinstance(token, str):
            raise four_part_error(
                f"heat_map got unusable {name}",
                "a list of str",
                f"a list with {abbreviated(token)}",
                "Decode bytes; for a Translation, call its heat_map, or pass the "
                "pieces of its source_tokens",
            )


def _check_shape(shape, target, source):
    if shape != (len(target), len(source)):
        raise four_part_error(
            "heat_map got an alignment that does not fit its tokens",
            f"[target, source] = ({len(target)}, {len(source)})",
            f"shape {shape}",
            "Cut off the padding, and take the mean over heads",
        )
