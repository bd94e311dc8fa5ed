"""Rows of files with pairs: good ones, and what is wrong with the others."""

from typing import NamedTuple

from keras_seqattn.errors import four_part_error

_SHOWN = 40  # characters of a row in the report


class Row(NamedTuple):
    """A row with two texts; the number counts lines, in TMX units, from 1."""

    number: int
    source: str
    target: str


class BadRow(NamedTuple):
    """A row that is no pair.

    Args:
        number: the line, in TMX the unit, from 1.
        reason: what is wrong, in a few words, for the report: rows are counted by it.
        text: the row.
        expected: what would have been right, for the error.
        received: what was there instead, for the error.
        remedy: a sentence, for the error.
        is_mistake: False for rows that a correct file may have, e.g. empty ones.
        side: of two files, the one with the mistake: 0 is the source, 1 the target.
    """

    number: int
    reason: str
    text: str = ""
    expected: str = ""
    received: str = ""
    remedy: str = "Correct the row"
    is_mistake: bool = True
    side: int = 0

    def error(self, path, unit):
        """The error of a reader that accepts no mistake."""
        return four_part_error(
            "read_pairs got a malformed row",
            self.expected,
            f"{self.received} in {unit} {self.number} of {path!r}",
            f'{self.remedy}; or leave such rows out with row_errors="skip" '
            "(--row-errors skip)",
        )

    def example(self, unit):
        """The row as the report shows it."""
        text = self.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"{unit} {self.number}: {shortened(text)}".removesuffix(": ")


def shortened(text):
    """Return a text on one line of at most 40 printable characters."""
    text = text[: 2 * _SHOWN].replace("\t", " | ")
    text = "".join(c if c.isprintable() else " " for c in text).strip()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def empty_row(number):
    """A row without any text, which a correct file may have."""
    return BadRow(number, "empty row", is_mistake=False)
