"""What an error says, part by part, and which `raise` of the library made it.

The four parts of a message are joined in one place, `keras_seqattn/errors.py`. So a row
of a table of errors names the beginning of a message, what is special in the rest
(` ... ` stands for anything), and the call; a text that ends with a period is the whole
message:

    TABLE = {"BahdanauAttention got a query ... (4,)": lambda: attend(ones(4))}
    ROWS = rows(TABLE)

The parameters of a test of such rows are `"call, what, parts"`.
"""

import ast
import re
import traceback
from pathlib import Path
from typing import NamedTuple

import pytest

KINDS = (ValueError, NotImplementedError, ImportError, OSError, ArithmeticError)
FOUR_PARTS = re.compile(r".+[.] Expected .+, received .+[.] [A-Z`].+[.]", re.DOTALL)


class Raised(NamedTuple):
    """A message, and the lines that its error and the errors behind it came through."""

    message: str
    places: frozenset  # of (path, line)


def raised(call, kinds=KINDS):
    """Call it, and return the error that it raises."""
    with pytest.raises(kinds) as caught:
        call()
    error, places = caught.value, set()
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        places |= {(frame.filename, frame.lineno) for frame in frames}
        error = error.__cause__
    message = str(caught.value)
    in_keras = re.search("\x1b\\[1m(.*)\x1b\\[0m", message, re.DOTALL)  # Layer.__call__
    return Raised(in_keras[1] if in_keras else message, frozenset(places))


class Row(NamedTuple):
    """A row of a table of errors."""

    call: object
    what: str
    parts: tuple


def row(call, text):
    """Return a row of a table: `text` is a message, or some of its parts in order."""
    what, *parts = [text] if text.endswith(".") else text.split(" ... ")
    return Row(call, what, tuple(parts))


def rows(*tables, start=""):
    """Return the rows of tables: text to call, or beginning to a table of the rest."""
    found = []
    for text, call in [item for table in tables for item in table.items()]:
        is_table = isinstance(call, dict)
        text = f"{start}{text}"
        found += rows(call, start=f"{text} ") if is_table else [row(call, text)]
    return found


def check_message(message, what, *parts):
    """Check the beginning of a message with four parts, and in order what follows.

    A beginning that ends with a period, without more parts, is the whole message.
    """
    assert FOUR_PARTS.fullmatch(message), message
    if what.endswith(".") and not parts:
        assert message == what
    assert message.startswith(what), message
    place = len(what)
    for part in parts:
        assert part in message[place:], f"{part!r} is not in {message[place:]!r}"
        place = message.index(part, place) + len(part)


def check_error(call, what, *parts):
    """Check what the error says that `call` raises."""
    check_message(raised(call).message, what, *parts)


def untried(paths, calls, raised=raised):
    """Names the `raise` statements of some files that none of the calls reaches.

    With a cached `raised` no call runs twice.
    """
    places = {place for call in calls for place in raised(call).places}
    return [
        f"{Path(path).name}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and node.exc is not None
        if not any(
            str(path) == file and node.lineno <= line <= node.end_lineno
            for file, line in places
        )
    ]
