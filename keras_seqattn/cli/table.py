"""A table of numbers as lines of text."""


def lines(rows):
    """Lines from dicts of numbers; columns in the order in which they first appear."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_number(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]


def _number(value):
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4g}"
