"""Collects the pairs of a file, and counts the rows that are left out."""

from keras_seqattn.data.filter_report import EXAMPLES, Report
from keras_seqattn.data.header import is_header
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.row import BadRow, empty_row
from keras_seqattn.data.text_files import is_text
from keras_seqattn.errors import four_part_error

RULES = ("skip", "skip-all", "fatal")
LIMIT = 0.05  # share of rows with mistakes that `skip` allows


def collect(rows, paths, rule, unit="line", may_have_header=False):
    """Return `Pairs` with their report, and a text about the mistakes, or "".

    Args:
        rows: `Row`s and `BadRow`s.
        paths: of the sources and of the targets; the same if it is one file.
        rule: one of `RULES`.
        unit: what the numbers of the rows count.
        may_have_header: whether the first row may have names of columns.
    """
    sides, left_out, total = ([], []), _LeftOut(unit), 0
    for total, row in enumerate(rows, start=1):
        row = _checked(row, may_have_header and total == 1)
        if not isinstance(row, BadRow):
            for side, text in zip(sides, row[1:], strict=True):
                side.append(text)
            continue
        if row.is_mistake and rule == "fatal":
            raise row.error(paths[row.side], unit)
        left_out.add(row, total - 1)
    if rule == "skip":
        left_out.check(total, paths)
    return Pairs(*sides, left_out.report(total)), left_out.mistakes(total, paths)


def _checked(row, is_first):
    """Return the row, or what is wrong with its texts."""
    if isinstance(row, BadRow):
        return row
    number, *texts = row
    if is_first and is_header(*texts):
        return BadRow(number, "header", "\t".join(texts), is_mistake=False)
    broken = [not is_text(text) for text in texts]
    if any(broken):
        how = "UTF-8", "other bytes", "Convert the file to UTF-8"
        return _bad(row, "not UTF-8", how, broken)
    blank = [not text or text.isspace() for text in texts]
    if all(blank):
        return empty_row(number)
    if any(blank):
        reason = f"empty {('source', 'target')[blank.index(True)]}"
        how = "a text on both sides", f"an {reason}", "Add the text"
        return _bad(row, reason, how, blank)
    return row


def _bad(row, reason, how, sides):
    number, *texts = row
    return BadRow(number, reason, "\t".join(texts), *how, side=sides.index(True))


class _LeftOut:
    """The rows that are left out, by reason."""

    def __init__(self, unit):
        self.unit, self.counts, self.first, self.positions = unit, {}, {}, []

    def add(self, row, position):
        self.positions.append(position)
        self.counts[row.reason] = self.counts.get(row.reason, 0) + 1
        first = self.first.setdefault(row.reason, [])
        if len(first) < EXAMPLES:
            first.append(row)

    def report(self, total):
        """Return the `Report`."""
        examples = {
            reason: [row.example(self.unit) for row in rows]
            for reason, rows in self.first.items()
        }
        return Report(total, self.counts, examples, self.positions)

    def mistakes(self, total, paths):
        """Return a text that says how many rows have mistakes, and where; or ""."""
        counts = self._mistakes()
        if not counts:
            return ""
        others = sum(self.counts.values()) - sum(counts.values())
        files = " and ".join(map(repr, dict.fromkeys(paths)))
        places = "; ".join(
            f"{reason}: {count} ({self._lines(reason)})"
            for reason, count in counts.items()
        )
        return f"{sum(counts.values())} of {total - others} rows in {files}: {places}"

    def check(self, total, paths):
        """Raise an error if too many rows are mistakes."""
        counts = self._mistakes()
        others = sum(self.counts.values()) - sum(counts.values())
        wrong, rows = sum(counts.values()), total - others
        if wrong <= LIMIT * rows:
            return
        remedy = self.first[max(counts, key=counts.get)][0].remedy
        if wrong < rows:
            remedy += (
                '; or leave such rows out with row_errors="skip-all" '
                "(--row-errors skip-all)"
            )
        raise four_part_error(
            "read_pairs got too many rows with mistakes",
            f"mistakes in at most {100 * LIMIT:.0f} % of the rows",
            self.mistakes(total, paths),
            remedy,
        )

    def _mistakes(self):
        rows = self.first.items()
        return {why: self.counts[why] for why, first in rows if first[0].is_mistake}

    def _lines(self, reason):
        numbers = [str(row.number) for row in self.first[reason]]
        more = ", ..." if self.counts[reason] > len(numbers) else ""
        plural = "s" * (len(numbers) > 1)
        return f"{self.unit}{plural} {', '.join(numbers)}{more}"
