"""Walks through the nodes of a traced function, down into its loops and calls."""

from typing import NamedTuple

PRODUCTS = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "MatMul")


class Product(NamedTuple):
    """A matrix product: the static shapes of its two operands."""

    op: str
    left: tuple
    right: tuple

    @property
    def shapes(self):
        return self.left, self.right


def operations(graph, enter_loops=True):
    """All operations of a `FuncGraph` and of the functions it calls."""
    for op in graph.get_operations():
        yield op
        if enter_loops or not is_loop(op):
            for name in called(op):
                yield from operations(function(graph, name), enter_loops)


def is_loop(op):
    return op.type in ("While", "StatelessWhile")


def called(op):
    """Names of the functions that an operation calls."""
    for attr in op.node_def.attr.values():
        names = [attr.func.name] + [f.name for f in attr.list.func]
        yield from (name for name in names if name)


def function(graph, name):
    while not graph._is_function(name):  # traced in a graph further out
        graph = graph.outer_graph
    return graph._get_function(name).graph


def loop_bodies(graph):
    """The bodies of all loops that are not inside another loop."""
    loops = [op for op in operations(graph, enter_loops=False) if is_loop(op)]
    return [function(op.graph, op.get_attr("body").name) for op in loops]


def products(ops):
    """The matrix products among some operations."""
    return [
        Product(op.type, *(tuple(x.shape.as_list()) for x in op.inputs))
        for op in ops
        if op.type in PRODUCTS
    ]
