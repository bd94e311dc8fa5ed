"""Places and names of nodes of a syntax tree."""

import ast
import re

JOINED = ("list", "tuple", "sorted", "str", "repr", "join", "lower", "upper", "strip")
TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp)


class Text:
    """Places of nodes, counted in characters; the parser counts bytes."""

    def __init__(self, lines):
        self.lines = lines

    def column(self, line, byte):
        """Return the index of the character of a byte."""
        return len(self.lines[line - 1].encode()[:byte].decode())

    def of(self, node):
        """Return the span of a node on one line; None if it has several lines."""
        if node.lineno != node.end_lineno:
            return None
        start = self.column(node.lineno, node.col_offset)
        return node.lineno, start, self.column(node.lineno, node.end_col_offset)

    def between(self, left, right, pattern):
        """Return the span between two nodes, without parentheses."""
        if left.end_lineno != right.lineno:
            return None
        start = self.column(left.end_lineno, left.end_col_offset)
        end = self.column(right.lineno, right.col_offset)
        found = re.search(pattern, self.lines[right.lineno - 1][start:end])
        return found and (right.lineno, start + found.start(), start + found.end())

    def read(self, span):
        """Return the characters of a span."""
        line, start, end = span
        return self.lines[line - 1][start:end]


def integer(node):
    """Return the value of an integer constant; None for other nodes."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def name_of(node):
    """Return the name of a node, such as `ops.where`, or of the called function."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def is_text(node):
    """Return whether `+` joins strings or lists here."""
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    if isinstance(node, ast.Call):
        return name_of(node).rpartition(".")[2] in JOINED
    return isinstance(node, TEXTS)
