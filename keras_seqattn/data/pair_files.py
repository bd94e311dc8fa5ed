"""Reading pairs from files of several formats."""

import os

from keras_seqattn.checks import check_choice
from keras_seqattn.data import json_lines, parallel_files, tables, tmx
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.text_files import is_text
from keras_seqattn.errors import four_part_error

_SUFFIXES = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tmx": "tmx",
}
_ROWS = {
    "tsv": tables.tsv_rows,
    "csv": tables.csv_rows,
    "jsonl": json_lines.rows,
    "tmx": tmx.rows,
}
# For each format: what columns are called in messages, and the default columns.
_COLUMNS = {
    "tsv": ("numbers from 0, or names in the first row", (0, 1)),
    "csv": ("numbers from 0, or names in the first row", (0, 1)),
    "jsonl": ("keys", ("source", "target")),
    "tmx": ("language codes", None),
}


def read_pairs(
    source, target=None, *, format=None, columns=None, encoding_errors="fatal"
):
    """Reads pairs of strings from two files of lines, or from one table.

    Files are UTF-8, with or without a byte order mark, plain or compressed by gzip,
    whatever their names are. Only a line feed ends a line, alone or after a carriage
    return. An empty line in one of two files is an empty text, because line n of one
    file belongs to line n of the other; `filter_pairs` drops such pairs. In tables,
    empty lines are skipped.

    Args:
        source: path of the file with the sources, or of the single file.
        target: path of the file with the targets; None: there is a single file.
        format: format of a single file: `"tsv"` (texts between tabs, no quotes),
            `"csv"`, `"jsonl"` (an object in each line) or `"tmx"`; None: the suffix of
            its name decides.
        columns: the columns of source and target. In tsv and csv these are numbers from
            0, by default `(0, 1)`, or names in the first row. In jsonl they are keys,
            by default `("source", "target")`. In tmx they are language codes, e.g.
            `("en", "de")`.
        encoding_errors: `"fatal"`: the first line that is not UTF-8 raises an error;
            `"skip"`: its pair is dropped. XML that is not UTF-8 is always an error.

    Returns:
        `Pairs`, in the order of the file. `pairs.dropped` counts the dropped pairs:
        `"not UTF-8"`, and in tmx `"language missing"`.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with open(f"{folder}/animals.tsv", "w") as file:
        ...         lines = file.write("ein Hund\\ta dog\\neine Katze\\ta cat\\n")
        ...     pairs = read_pairs(f"{folder}/animals.tsv")
        >>> pairs.source, pairs.target
        (['ein Hund', 'eine Katze'], ['a dog', 'a cat'])
    """
    check_choice("read_pairs", "encoding_errors", encoding_errors, ("fatal", "skip"))
    paths = [os.fspath(source), os.fspath(source if target is None else target)]
    if target is None:
        format = _format(paths[0], format)
        rows = _ROWS[format](paths[0], _columns(format, columns))
    else:
        _check_no_table(format, columns)
        rows = parallel_files.rows(*paths)
    return _collect(rows, paths, encoding_errors == "skip")


def _collect(rows, paths, skip):
    pairs, dropped = ([], []), {}
    for number, *pair in rows:
        reason = _reason(number, pair, paths, skip)
        if reason:
            dropped[reason] = dropped.get(reason, 0) + 1
            continue
        for side, text in zip(pairs, pair, strict=True):
            side.append(text)
    return Pairs(*pairs, dropped)


def _reason(number, pair, paths, skip):
    """Return the reason to drop a pair, or None."""
    if None in pair:
        return "language missing"
    broken = [path for text, path in zip(pair, paths, strict=True) if not is_text(text)]
    if broken and not skip:
        raise four_part_error(
            "read_pairs got a text that is not UTF-8",
            "UTF-8",
            f"other bytes in line {number} of {broken[0]!r}",
            'Convert the file, or drop such pairs with encoding_errors="skip"',
        )
    return "not UTF-8" if broken else None


def _format(path, format):
    if format is not None:
        check_choice("read_pairs", "format", format, _ROWS)
        return format
    stem, suffix = os.path.splitext(path)
    if suffix == ".gz":
        suffix = os.path.splitext(stem)[1]
    if suffix.lower() not in _SUFFIXES:
        raise four_part_error(
            "read_pairs got a single file of unknown format",
            f"a name that ends in {', '.join(_SUFFIXES)}, with or without .gz",
            repr(path),
            'Rename the file, pass format="tsv" or another format, or pass the file '
            "with the targets as well",
        )
    return _SUFFIXES[suffix.lower()]


def _columns(format, columns):
    words, usual = _COLUMNS[format]
    columns = usual if columns is None else columns
    kinds = (int, str) if "numbers" in words else (str,)
    right = isinstance(columns, (list, tuple)) and len(columns) == 2
    right = right and any(all(type(c) is kind for c in columns) for kind in kinds)
    if not right or any(type(c) is int and c < 0 for c in columns):
        raise four_part_error(
            f"read_pairs got unusable columns for {format}",
            f"two {words}",
            f"columns={columns!r}",
            f"Pass the source column first, e.g. columns={usual or ('en', 'de')}",
        )
    return columns


def _check_no_table(format, columns):
    if format is not None or columns is not None:
        raise four_part_error(
            "read_pairs got options of a table for two files",
            "neither format nor columns",
            f"format={format!r} and columns={columns!r}",
            "Leave them out, or pass a single file",
        )
