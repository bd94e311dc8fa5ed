"""The sources of the library: functions, statements, and equal lines."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

PACKAGE = "keras_seqattn"


class Line(NamedTuple):
    """A line and its place.

    path: of its file, from the root.
    number: of the line, from 1.
    function: qualified name, `Beam.step`; "" for what stands in no function or class.
    text: the line as it is.
    statement: all of the statement that holds it; of an `if` or `for` its head.
    """

    path: str
    number: int
    function: str
    text: str
    statement: str


def sources(root):
    """Return `{path: text}` of all modules of the library, sorted."""
    root = Path(root)
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / PACKAGE).rglob("*.py"))
    }


def lines_of(path, text):
    """Return a `Line` for each line of code, without comments and docstrings."""
    lines, found = text.splitlines(), {}
    for function, statement in statements(ast.parse(text), ""):
        first, last = extent(statement)
        said = plain(" ".join(map(without_comment, lines[first - 1 : last])))
        for number in range(first, last + 1):
            found[number] = Line(path, number, function, lines[number - 1], said)
    return list(found.values())


def statements(node, function):
    """Yield `(qualified name, statement)`, outer statements first."""
    for child in ast.iter_child_nodes(node):
        name = function
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{function}.{child.name}".lstrip(".")
        if isinstance(child, (ast.stmt, ast.excepthandler)) and not is_docstring(child):
            yield name, child
        yield from statements(child, name)


def is_docstring(node):
    """Return whether a statement is only a string."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def extent(statement):
    """Return the first and last line; a statement with a body ends before it."""
    body = getattr(statement, "body", None)
    if not body:
        return statement.lineno, statement.end_lineno
    first = body[0].lineno - len(getattr(body[0], "decorator_list", ()))
    return statement.lineno, max(statement.lineno, first - 1)


def plain(text):
    """Return the text of a line without spaces and comments."""
    return " ".join(without_comment(text).split())


def without_comment(line):
    """Return a line without the comment at its end; `#` in strings stays."""
    return re.sub(r"(^|\s{2,})#[^'\"]*$", "", line)
