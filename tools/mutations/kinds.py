"""The six kinds of faults of a node of a syntax tree."""

import ast
import re

from tools.mutations.nodes import integer, is_text, name_of

KINDS = ("comparison", "sign", "axis", "mask", "off by one", "dropped raise")

COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
}  # `is None` is left out: whatever runs at all notices it
AXES = {-2: -1, -1: -2, 0: 1, 1: 0, 2: 1, 3: 2}
MASKS = re.compile(r"(^|_)(masks?|real|padding)(_|$)")  # names of masks
TENSORS = ("ops", "tf", "np", "keras.ops", "tf.math")  # whose functions take arrays


def of_node(node, text):
    """Yield `(kind, (line, start, end), new text)` of each fault of a node."""
    if isinstance(node, ast.Compare):
        yield from comparisons(node, text)
    elif isinstance(node, ast.UnaryOp):
        yield from signs(node, text)
    elif isinstance(node, (ast.BinOp, ast.AugAssign)):
        yield from operations(node, text)
    elif isinstance(node, ast.Subscript):
        yield from subscripts(node, text)
    elif isinstance(node, ast.Call):
        yield from calls(node, text)
    elif isinstance(node, ast.Raise):
        yield from raises(node, text)


def comparisons(node, text):
    """Yield `<` for `<=`, `!=` for `==`, `not in` for `in`; a bound larger by 1."""
    left = node.left
    for right in node.comparators:
        span = text.between(left, right, r"[<>=!]=?|\b(not )?in\b")
        if span and text.read(span) in COMPARISONS:
            yield "comparison", span, COMPARISONS[text.read(span)]
        number, place = integer(right), text.of(right)
        if span and place and number is not None and text.read(span) != "in":
            yield "off by one", place, str(number + 1)
        left = right


def signs(node, text):
    """Yield `x` for `-x` and for `~x`."""
    span = text.of(node)
    if isinstance(node.op, ast.USub) and span and integer(node) is None:
        yield "sign", (span[0], span[1], span[1] + 1), ""
    if isinstance(node.op, ast.Invert) and span:
        yield "mask", (span[0], span[1], span[1] + 1), ""


def operations(node, text):
    """Yield `-` for `+`, `|` for `&`, `x` for `x + 1`."""
    is_step = isinstance(node, ast.AugAssign)
    left, right = (node.target, node.value) if is_step else (node.left, node.right)
    if isinstance(node.op, (ast.BitAnd, ast.BitOr)) and not is_step:
        span = text.between(left, right, r"[&|]")
        if span and any(MASKS.search(name_of(side)) for side in (left, right)):
            yield "mask", span, "|" if text.read(span) == "&" else "&"
    if not isinstance(node.op, (ast.Add, ast.Sub)) or is_text(left) or is_text(right):
        return
    span = text.between(left, right, r"[-+]")
    if not span:
        return
    yield "sign", span, "-" if text.read(span) == "+" else "+"
    end = text.of(right)
    if end and integer(right) == 1 and not is_step:
        line, start, _ = span
        before = text.lines[line - 1][:start]
        yield "off by one", (line, len(before.rstrip()), end[2]), ""


def subscripts(node, text):
    """Yield `[1]` for `[0]`, `[2:]` for `[1:]`, `[None, :]` for `[:, None]`."""
    index = node.slice
    number, span = integer(index), text.of(index)
    if span and number is not None:
        if "shape" in name_of(node.value):
            yield "axis", span, str(AXES.get(number, number - 1))
        else:
            yield "off by one", span, str(number - 1 if number < 0 else abs(1 - number))
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Slice):
            for bound in (part.lower, part.upper):
                number = integer(bound)
                if number is not None and text.of(bound):
                    step = -1 if number < 0 else 1
                    yield "off by one", text.of(bound), str(number + step)
    if isinstance(index, ast.Tuple) and span:
        parts = [text.read(text.of(part)) for part in index.elts]
        if len(parts) > 1 and (parts[0] == "None") != (parts[-1] == "None"):
            yield "axis", span, ", ".join(parts[::-1])


def calls(node, text):
    """Yield calls with another axis, without a mask, with one round less."""
    name = name_of(node.func)
    owner, _, function = name.rpartition(".")
    for keyword in node.keywords:
        number, span = integer(keyword.value), text.of(keyword.value)
        if keyword.arg == "axis" and number in AXES and span:
            yield "axis", span, str(AXES[number])
    if function == "range" and not owner:
        stop = node.args[min(1, len(node.args) - 1)]
        if text.of(stop) and not isinstance(stop, (ast.Starred, ast.Constant)):
            yield "off by one", (stop.end_lineno, *[text.of(stop)[2]] * 2), " - 1"
    masks = [*node.args, *(keyword.value for keyword in node.keywords)]
    for mask in masks:
        span = text.of(mask)
        if not span or not isinstance(mask, (ast.Name, ast.Attribute)):
            continue
        if not MASKS.search(name_of(mask).rpartition(".")[2]):
            continue
        if owner not in TENSORS and name not in ("isinstance", "len", "getattr"):
            yield "mask", span, "None"
        elif owner and function not in ("shape", "ones_like", "zeros_like"):
            yield "mask", span, f"{owner}.ones_like({text.read(span)})"


def raises(node, text):
    """Yield an error that is created and not raised."""
    line, start = node.lineno, text.column(node.lineno, node.col_offset)
    if node.exc is None or (node.cause is not None and text.of(node)):
        end = text.of(node)[2]
        yield "dropped raise", (line, start, end), "pass"
    elif node.cause is None:
        yield "dropped raise", (line, start, start + len("raise ")), ""
