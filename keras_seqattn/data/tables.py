"""Rows of tables: columns between tabs, or comma-separated values with quotes."""

import collections
import csv
import itertools

from keras_seqattn.data.row import BadRow, Row, empty_row, shortened
from keras_seqattn.data.text_files import is_text, lines
from keras_seqattn.errors import four_part_error

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
_FIRST = 100  # rows that show the separator and how many columns there are
_LONGEST = 100  # lines of a text in quotes; a longer one has lost its closing quote


def tsv_rows(path, columns):
    """Yield `Row`s and `BadRow`s; a tab is never part of a text, a quote is."""
    table = ((number, line, line.split("\t")) for number, line in _numbered(path))
    return _rows(path, columns, table, "\t")


def csv_rows(path, columns):
    """Yield `Row`s and `BadRow`s; a text in quotes may have several lines.

    The separator is a comma, a semicolon or a tab: the one that most lines have.
    """
    numbered = _numbered(path)
    first = list(itertools.islice(numbered, _FIRST))
    found = {c: sum(c in line for _, line in first) for c in _NAMES}
    separator = max(found, key=found.get)
    table = _csv_table(itertools.chain(first, numbered), separator)
    return _rows(path, columns, table, separator)


def _numbered(path):
    return enumerate(lines(path), start=1)


def _csv_table(numbered, separator):
    """Yield (number of the first line, its text, cells, or a string: the error)."""
    ahead, taken = collections.deque(), []

    def feed():
        while len(taken) < _LONGEST:
            line = ahead.popleft() if ahead else next(numbered, None)
            if line is None:
                return
            taken.append(line)
            yield line[1] + "\n"

    how = {"delimiter": separator, "strict": True}
    reader = csv.reader(feed(), **how)
    while True:
        taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            cells = str(error)
            ahead.extendleft(reversed(taken[1:]))  # only the first line is lost
            reader = csv.reader(feed(), **how)
        yield *taken[0], cells


def _rows(path, columns, table, separator):
    """Yield the two columns of each row, by number or by names in the first row."""
    if columns is not None and isinstance(columns[0], str):
        _, _, header = next(table, (1, "", []))
        header = [] if isinstance(header, str) else header
        columns = _numbers(path, columns, header)
    first = list(itertools.islice(table, _FIRST))
    # Named columns may stand in rows of any length; otherwise a text with a separator
    # in it would shift the columns.
    most = None if columns else _usual(cells for _, _, cells in first)
    columns = columns or (0, 1)
    for number, line, cells in itertools.chain(first, table):
        if not line.strip() or not cells:
            yield empty_row(number)
        elif isinstance(cells, str):
            yield BadRow(
                number,
                "malformed quotes",
                line,
                "quotes around a text that are closed and doubled inside",
                f"the error {cells!r}",
                "Check the quotes",
            )
        elif len(cells) <= max(columns) or (most and any(cells[most:])):
            yield _wrong_length(
                number, line, cells, most or max(columns) + 1, separator
            )
        else:
            yield Row(number, cells[columns[0]], cells[columns[1]])


def _usual(rows):
    """Return the most common number of columns, 2 or more."""
    counts = collections.Counter(len(cells) for cells in rows if type(cells) is list)
    return max(2, counts.most_common(1)[0][0]) if counts else 2


def _wrong_length(number, line, cells, expected, separator):
    name, count = _NAMES[separator], len(cells)
    reason = f"{'more' if count > expected else 'fewer'} than {expected} columns"
    return BadRow(
        number,
        f"no {name}" if count == 1 else reason,
        line,
        f"{expected} columns",
        f"{count} column{'s' * (count > 1)}",
        f"Write one {name} between source and target, choose other columns, or name "
        "two files, one for each side",
    )


def _numbers(path, columns, header):
    missing = [name for name in columns if name not in header]
    if missing:
        header = [shortened(name) for name in header if is_text(name)]
        raise four_part_error(
            "read_pairs got columns that do not exist",
            f"names in the first row of {path!r}, {header}",
            missing,
            "Check the spelling, or pass numbers for a table without a header",
        )
    return [header.index(name) for name in columns]
