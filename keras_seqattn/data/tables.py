"""Rows of tables: columns between tabs, or comma-separated values with quotes."""

import csv

from keras_seqattn.data.text_files import is_text, lines
from keras_seqattn.errors import four_part_error


def tsv_rows(path, columns):
    """Yield (line number, source, target); a tab is never part of a text."""
    numbered = enumerate(lines(path), start=1)
    table = ((number, line.split("\t")) for number, line in numbered if line)
    return _rows(path, columns, table)


def csv_rows(path, columns):
    """Yield (line number, source, target); a text in quotes may have several lines."""
    return _rows(path, columns, _csv_table(path))


def _csv_table(path):
    reader = csv.reader((line + "\n" for line in lines(path)), strict=True)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise four_part_error(
                "read_pairs got a malformed row",
                "comma-separated values",
                f"the error {str(error)!r} in the row that begins in line {first} of "
                f"{path!r}",
                "Check the quotes: one may not be doubled or closed",
            ) from error
        if row:
            yield first, row


def _rows(path, columns, table):
    """Yield the two columns of each row, by number or by names in the first row."""
    table = iter(table)
    if isinstance(columns[0], str):
        _, header = next(table, (1, []))
        columns = _numbers(path, columns, header)
    for number, row in table:
        if len(row) <= max(columns):
            raise four_part_error(
                "read_pairs got a malformed row",
                f"{max(columns) + 1} columns or more",
                f"{len(row)} in line {number} of {path!r}",
                "Check the row and the format, or choose other columns",
            )
        yield number, row[columns[0]], row[columns[1]]


def _numbers(path, columns, header):
    missing = [name for name in columns if name not in header]
    if missing:
        header = [name for name in header if is_text(name)]
        raise four_part_error(
            "read_pairs got columns that do not exist",
            f"names in the first row of {path!r}, {header}",
            missing,
            "Check the spelling, or pass numbers for a table without a header",
        )
    return [header.index(name) for name in columns]
