"""Floating-point operations of the matrix products that a traced function executes."""

import math

from benchmarks import traced

PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum")


def flops(function, *arguments):
    """Return the operations of all products of one call, with loops.

    A product `[m, k] x [k, n]` has 2 m k n operations: multiplications and additions.
    Elementwise operations are not counted.
    """
    seen, _ = traced.run(function, *arguments)
    return sum(product_flops(executed) for executed in seen)


def product_flops(executed):
    """Return the operations of a matrix product; 0 for other operations."""
    op = executed.op
    if op.type not in PRODUCTS:
        return 0
    if op.type == "Einsum":
        return _einsum(op.get_attr("equation").decode(), executed)
    turned = op.get_attr("transpose_a" if op.type == "MatMul" else "adj_x")
    contracted = executed.inputs[0][-2 if turned else -1]
    return 2 * math.prod(executed.outputs[0]) * contracted


def _einsum(equation, executed):
    """Return the operations of an einsum: the product of the sizes of all labels."""
    terms, _, kept = equation.partition("->")
    sizes = {}
    for term, shape in zip(terms.split(","), executed.inputs, strict=True):
        before, dots, after = term.partition("...")
        sizes |= zip(before, shape, strict=False)
        sizes |= zip(reversed(after), reversed(shape), strict=False) if dots else {}
    summed = math.prod(size for label, size in sizes.items() if label not in kept)
    return 2 * math.prod(executed.outputs[0]) * summed
