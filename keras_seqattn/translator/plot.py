"""An alignment as a figure of Matplotlib, for papers."""

import textwrap
import unicodedata
import warnings

import numpy as np

from keras_seqattn.errors import (
    abbreviated,
    four_part_error,
    four_parts,
    missing_package,
)
from keras_seqattn.text.terminal_text import clusters
from keras_seqattn.text.weight_scale import scaled

# From 0 to 1, light to dark: the same colours as in static/scale.js.
COLOURS = (
    "#eef9fa #b3e3ec #7bcae2 #4facda #368ccd #316aba #35499e #2f2e79 #221851".split()
)
_CELL = 0.3  # inches
_LABELS = 1.2  # inches for the labels of a side
_LETTERS, _LINE = 12, 0.2  # small letters in an inch; inches of a line


def figure(source_tokens, target_tokens, alignment, font=None):
    """Draw a heat map: rows are target tokens, columns are source tokens.

    Args:
        source_tokens: list of str.
        target_tokens: list of str.
        alignment: `[target, source]`. If some weights are above 1, it is scaled by
            the largest one, and a line below the map says so.
        font: name of a font, or a list of names: the first font that has a character
            draws it. None: the font of Matplotlib's settings.

    Returns:
        `matplotlib.figure.Figure`, without a window: `figure.savefig("x.pdf")`.
    """
    matplotlib = _matplotlib()
    fonts = matplotlib.rcParams["font.family"] if font is None else font
    fonts = [fonts] if isinstance(fonts, str) else list(fonts)
    source, target = (
        ["".join(clusters(token)) for token in tokens]
        for tokens in (source_tokens, target_tokens)
    )
    _warn_of_missing(matplotlib, fonts, "".join([*source, *target]))
    weights, notes = scaled(alignment)
    width = _CELL * len(source) + _LABELS
    lines = [x for note in notes for x in textwrap.wrap(note, int(_LETTERS * width))]
    size = (width, _CELL * len(target) + _LABELS + _LINE * len(lines))
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    colours = matplotlib.colors.LinearSegmentedColormap.from_list("attention", COLOURS)
    axes.imshow(weights, cmap=colours, vmin=0.0, vmax=1.0, aspect="equal")
    rows, columns = np.nonzero(np.isnan(weights))
    axes.plot(columns, rows, "x", color="grey", scalex=False, scaley=False)
    axes.set_xlabel("\n".join(lines), fontsize="small")
    _label(axes, source, target, fonts)
    return figure


def _label(axes, source, target, fonts):
    """Write tokens at the axes, and draw white lines between the cells."""
    text = {"family": fonts, "parse_math": False}  # a token may hold dollar signs
    axes.xaxis.tick_top()
    turned = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    upright = max(map(len, source), default=0) <= 1
    axes.set_xticks(range(len(source)), source, **text, **({} if upright else turned))
    axes.set_yticks(range(len(target)), target, **text)
    axes.set_xticks([x - 0.5 for x in range(1, len(source))], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(target))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def _matplotlib():
    try:
        import matplotlib
        import matplotlib.colors
        import matplotlib.figure
        import matplotlib.font_manager
    except ImportError as error:
        raise missing_package(
            "Translation.figure",
            "matplotlib",
            error,
            extra="plot",
            otherwise="Translation.show and Translation.html do not need it",
        ) from error
    return matplotlib


def _warn_of_missing(matplotlib, fonts, text):
    """Warn of characters that no font has: Matplotlib draws boxes for them."""
    manager = matplotlib.font_manager
    paths = [_path(manager, font) for font in fonts]
    known = set().union(*(manager.get_font(path).get_charmap() for path in paths))
    missing = "".join(sorted({c for c in text if ord(c) not in known}))
    if missing:
        shown = missing[:10] + ("…" if missing[10:] else "")
        name = unicodedata.name(missing[0], "a character without a name")
        message = four_parts(
            f"Translation.figure draws boxes for {len(missing)} characters",
            "fonts that have all characters",
            f"{fonts} without {shown!r} ({name})",
            'Pass other fonts, e.g. font=["DejaVu Sans", "Noto Sans CJK JP"]; or use '
            "Translation.html, because browsers choose fonts themselves",
        )
        warnings.warn(message, stacklevel=4)


def _path(manager, font):
    properties = manager.FontProperties(family=[font])
    try:
        return manager.findfont(properties, fallback_to_default=False)
    except ValueError:
        raise four_part_error(
            "Translation.figure got an unknown font",
            "a name that Matplotlib knows",
            abbreviated(font),
            "Call matplotlib.font_manager.get_font_names() for a list",
        ) from None
