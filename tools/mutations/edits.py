"""Find the places where a few characters of one line could be wrong."""

import ast
from typing import NamedTuple

from tools.mutations.kinds import of_node
from tools.mutations.nodes import Text


class Edit(NamedTuple):
    """One fault: the characters `[start, end)` of a line become `new`."""

    kind: str
    line: int  # from 1
    start: int
    end: int
    new: str


def edits(source):
    """Return all faults of a source: pairs of an `Edit` and the nodes around it.

    Args:
        source: text of a module.

    Returns:
        list of `(edit, nodes)`, nodes from the module inwards. Some may not compile.
    """
    text = Text(source.splitlines())
    return [
        (Edit(kind, *span, new), nodes)
        for nodes in walk([ast.parse(source)])
        for kind, span, new in of_node(nodes[-1], text)
    ]


def walk(nodes):
    """Yield nodes whose change can matter, each with the nodes around it."""
    node = nodes[-1]
    yield nodes
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not (
            isinstance(node, ast.Call)
        ):
            continue
        if isinstance(node, ast.Raise):  # what it says is tested by its text
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not is_left_out(child):
                yield from walk([*nodes, child])


def is_left_out(node):
    """Return whether a node is text, printed output, abstract, or `__main__`."""
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__repr__", "__str__")
    if isinstance(node, ast.Raise) and node.exc is not None:
        return "NotImplementedError" in ast.dump(node.exc)
    if isinstance(node, ast.If):
        return "__main__" in ast.dump(node.test)
    return isinstance(node, ast.JoinedStr)


def is_fault(source, edit):
    """Return whether the changed source compiles and differs."""
    changed = applied(source, edit)
    try:
        compile(changed, "", "exec")
    except (SyntaxError, ValueError):
        return False
    return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def applied(source, edit):
    """Return the source after an edit."""
    lines = source.splitlines()
    lines[edit.line - 1] = edited(lines[edit.line - 1], edit)
    return "\n".join(lines) + "\n"


def edited(line, edit):
    """Return one line after an edit."""
    return line[: edit.start] + edit.new + line[edit.end :]
