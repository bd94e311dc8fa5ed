"""Reading pairs from files of several formats."""

import os
import warnings

from keras_seqattn.checks import check_choice
from keras_seqattn.data import json_lines, parallel_files, tables, tmx
from keras_seqattn.data.row_collector import RULES, collect
from keras_seqattn.data.text_files import check_file, lines
from keras_seqattn.errors import abbreviated, four_part_error, four_parts

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


def read_pairs(source, target=None, *, format=None, columns=None, row_errors="skip"):
    """Reads pairs of strings from two files of lines, or from one table.

    Files are UTF-8, with or without a byte order mark, plain or compressed by gzip,
    whatever their names are. Only a line feed ends a line, alone or after a carriage
    return.

    Rows that are no pairs are left out. Some are mistakes: a row with one column, or
    with more columns than most rows (unless `columns` says which ones count), an empty
    text on one side, an open quote in csv, JSON without the keys, bytes that are not
    UTF-8. Others are not: rows without any text, and a first row with the names of the
    columns, such as `source` and `target`, `English` and `French`, `en` and `de`.

    Args:
        source: path of the file with the sources, or of the single file.
        target: path of the file with the targets; None: there is a single file.
        format: format of a single file: `"tsv"` (texts between tabs, no quotes),
            `"csv"` (commas, semicolons or tabs, and quotes), `"jsonl"` (an object in
            each line) or `"tmx"`; None: the suffix of its name decides, or a tab in its
            first line.
        columns: the columns of source and target. In tsv and csv these are numbers from
            0, by default `(0, 1)`, or names in the first row. In jsonl they are keys,
            by default `("source", "target")`. In tmx they are language codes, e.g.
            `("en", "de")`.
        row_errors: what to do about mistakes. `"skip"`: leave the rows out with a
            warning, but raise an error if they are more than 5 % of all rows;
            `"skip-all"`: leave out any number, without a warning; `"fatal"`: raise an
            error at the first one. XML with errors, and two files with different
            numbers of lines, are always an error.

    Returns:
        `Pairs`, in the order of the file. `pairs.report` is a `Report` of the rows that
        are left out, with the lines of the first ones.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with open(f"{folder}/animals.tsv", "w") as file:
        ...         lines = file.write("German\\tEnglish\\nein Hund\\ta dog\\n\\n")
        ...     pairs = read_pairs(f"{folder}/animals.tsv")
        >>> pairs.source, pairs.target
        (['ein Hund'], ['a dog'])
        >>> print(pairs.report)
        1 of 3 pairs kept
              1 header     line 1: German | English
              1 empty row  line 3
    """
    pairs, mistakes = pairs_and_mistakes(source, target, format, columns, row_errors)
    if mistakes and row_errors == "skip":
        message = four_parts(
            "read_pairs has left out rows with mistakes",
            "rows that are pairs",
            mistakes,
            'Look at `pairs.report`; row_errors="fatal" stops at the first one, and '
            '"skip-all" gives no warning',
        )
        warnings.warn(message, stacklevel=2)
    return pairs


def pairs_and_mistakes(source, target, format, columns, row_errors):
    """Return what `read_pairs` returns, and its text about mistakes; without a warning.

    The command line prints the report instead.
    """
    check_choice("read_pairs", "row_errors", row_errors, RULES)
    paths = [_as_path(path) for path in (source, source if target is None else target)]
    if target is not None:
        _check_no_table(format, columns)
        rows = parallel_files.rows(*paths)
        return collect(rows, paths, row_errors, may_have_header=True)
    format = _format(paths[0], format)
    columns = _columns(format, columns)
    rows = _ROWS[format](paths[0], columns)
    is_table = format in ("tsv", "csv") and not _are_names(columns)
    return collect(
        rows, paths, row_errors, "unit" if format == "tmx" else "line", is_table
    )


def _as_path(path):
    try:
        return os.fspath(path)
    except TypeError:
        raise four_part_error(
            "read_pairs got something that is not a path",
            "a path of a file, or two paths",
            abbreviated(path),
            "Pass a name such as 'pairs.tsv'; pairs in memory need no reading: pass "
            "the list itself, or data.Pairs(sources, targets)",
        ) from None


def _format(path, format):
    if format is not None:
        check_choice("read_pairs", "format", format, _ROWS)
        return format
    stem, suffix = os.path.splitext(path)
    if suffix == ".gz":
        suffix = os.path.splitext(stem)[1]
    if suffix.lower() in _SUFFIXES:
        return _SUFFIXES[suffix.lower()]
    check_file(path)
    if "\t" not in next(lines(path), ""):
        raise four_part_error(
            "read_pairs got a single file of unknown format",
            f"a name that ends in {', '.join(_SUFFIXES)}, with or without .gz, or tabs",
            repr(path),
            'Rename the file, pass format="tsv" or another format, or pass the file '
            "with the targets as well",
        )
    return "tsv"


def _columns(format, columns):
    words, usual = _COLUMNS[format]
    if columns is None and format in ("tsv", "csv"):
        return None  # the two first ones, of rows that have as many as most
    columns = usual if columns is None else columns
    kinds = (int, str) if "numbers" in words else (str,)
    right = isinstance(columns, (list, tuple)) and len(columns) == 2
    right = right and any(all(type(c) is kind for c in columns) for kind in kinds)
    is_negative = right and any(type(c) is int and c < 0 for c in columns)
    if not right or is_negative or columns[0] == columns[1]:
        raise four_part_error(
            f"read_pairs got unusable columns for {format}",
            f"two different {words}",
            f"columns={abbreviated(columns)}",
            f"Pass the source column first, e.g. columns={usual or ('en', 'de')}",
        )
    return columns


def _are_names(columns):
    return columns is not None and isinstance(columns[0], str)


def _check_no_table(format, columns):
    if format is not None or columns is not None:
        raise four_part_error(
            "read_pairs got options of a table for two files",
            "neither format nor columns",
            f"format={abbreviated(format)} and columns={abbreviated(columns)}",
            "Leave them out, or pass a single file",
        )
