"""Rows of a JSON Lines file, which has one object in each line."""

import json

from keras_seqattn.data.text_files import is_text, lines
from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import well_formed

# RecursionError: lists or objects that are nested too deeply.
_UNUSABLE = (ValueError, TypeError, KeyError, IndexError, RecursionError)


def rows(path, keys):
    """Yield (line number, source, target)."""
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            pair = [record[key] for key in keys]
        except _UNUSABLE as error:
            raise _malformed(path, number, keys, repr(error)) from error
        if not all(isinstance(text, str) for text in pair):
            kinds = " and ".join(type(text).__name__ for text in pair)
            raise _malformed(path, number, keys, f"values of type {kinds}")
        if is_text(line):  # JSON may escape a lone surrogate in a line of UTF-8
            pair = map(well_formed, pair)
        yield number, *pair


def _malformed(path, number, keys, received):
    return four_part_error(
        "read_pairs got a malformed row",
        f"a JSON object with strings under {' and '.join(map(repr, keys))}",
        f"{received} in line {number} of {path!r}",
        "Correct the line, or choose other columns",
    )
