"""Floating-point operations of the matrix products that a traced function executes."""

import math

from benchmarks import traced

PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum")


def flops(function, *arguments):
    """Of all products of one call, loops as often as they turn.

    A product `[m, k] x [k, n]` has 2 m k n of them, a multiplication and an addition.
    Everything else, which is elementwise, is not counted.
    """
    seen, _ = traced.run(function, *arguments)
    return sum(product_flops(executed) for executed in seen)


def product_flops(executed):
    """Of one operation; 0 if it is no matrix product."""
    op = executed.op
    if op.type not in PRODUCTS:
        return 0
    if op.type == "Einsum":
        return _einsum(op.get_attr("equation").decode(), executed)
    turned = op.get_attr("transpose_a" if op.type == "MatMul" else "adj_x")
    contracted = executed.inputs[0][-2 if turned else -1]
    return 2 * math.prod(executed.outputs[0]) * contracted


def _einsum(equation, executed):
    """Every label once: those of the output, and those that are summed over."""
    terms, _, kept = equation.partition("->")
    sizes = {}
    for term, shape in zip(terms.split(","), executed.inputs, strict=True):
        before, dots, after = term.partition("...")
        sizes |= zip(before, shape, strict=False)
        sizes |= zip(reversed(after), reversed(shape), strict=False) if dots else {}
    summed = math.prod(size for label, size in sizes.items() if label not in kept)
    return 2 * math.prod(executed.outputs[0]) * summed
