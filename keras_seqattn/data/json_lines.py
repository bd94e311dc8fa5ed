"""Rows of a JSON Lines file, which has one object in each line."""

import json

from keras_seqattn.data.row import BadRow, Row, empty_row
from keras_seqattn.data.text_files import is_text, lines
from keras_seqattn.safe_reading import well_formed

# RecursionError: lists or objects that are nested too deeply.
_UNUSABLE = (ValueError, TypeError, KeyError, IndexError, RecursionError)


def rows(path, keys):
    """Yield `Row`s and `BadRow`s."""
    for number, line in enumerate(lines(path), start=1):
        yield _row(number, line, keys) if line.strip() else empty_row(number)


def _row(number, line, keys):
    try:
        record = json.loads(line)
        pair = [record[key] for key in keys]
    except _UNUSABLE as error:
        is_key = isinstance(error, KeyError)
        reason = f"no key {error}" if is_key else "not a JSON object"
        return _bad(number, reason, line, keys, repr(error))
    if not all(isinstance(text, str) for text in pair):
        kinds = " and ".join(type(text).__name__ for text in pair)
        return _bad(number, "not strings", line, keys, f"values of type {kinds}")
    if is_text(line):  # JSON may escape a lone surrogate in a line of UTF-8
        pair = map(well_formed, pair)
    return Row(number, *pair)


def _bad(number, reason, line, keys, received):
    return BadRow(
        number,
        reason,
        line,
        f"a JSON object with strings under {' and '.join(map(repr, keys))}",
        received,
        "Correct the line, or choose other columns",
    )
