"""Runs a traced function operation by operation, and records the operations.

A graph does not contain the number of loop iterations or all sizes of tensors. So it is
run: each operation that its results need, eagerly, one after the other. What
TensorFlow's optimiser would remove is still there.
"""

import inspect
from typing import Any, NamedTuple

import tensorflow as tf

LOOPS = ("While", "StatelessWhile")
BRANCHES = ("If", "StatelessIf")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class Executed(NamedTuple):
    """One execution of an operation."""

    op: Any  # tf.Operation
    inputs: list[tuple]  # shapes
    outputs: list[tuple]
    loop: Any  # the outermost loop around it (tf.Operation), or None


def run(function, *arguments):
    """Return all operations that a call executes, in a valid order.

    Args:
        function: a `ConcreteFunction`; variables that it writes are written.
        *arguments: its tensors, flat.

    Returns:
        a list of `Executed`, and the results, flat.
    """
    seen = []
    inputs = [tf.convert_to_tensor(x) for x in tf.nest.flatten(arguments)]
    found = _graph(function.graph, [*inputs, *function.captured_inputs], seen, None)
    return seen, found


def _graph(graph, inputs, seen, loop):
    values = {x.ref(): y for x, y in zip(graph.inputs, inputs, strict=True)}
    for op in _needed(graph):
        if op.type != "Placeholder":
            found = _execute(op, [values[x.ref()] for x in op.inputs], seen, loop)
            values.update((x.ref(), y) for x, y in zip(op.outputs, found, strict=True))
    return [values[x.ref()] for x in graph.outputs]


def _needed(graph):
    """Return the operations of outputs and effects, each after its own inputs.

    The order of the trace is not valid: a gradient adds inputs to an earlier loop.
    """
    order, entered = {}, set()
    waiting = [x.op for x in graph.outputs] + list(graph.control_outputs)
    while waiting:
        op = waiting[-1]
        before = {*(x.op for x in op.inputs), *op.control_inputs} - order.keys()
        if op in entered or not before:
            order.setdefault(waiting.pop())
        else:
            entered.add(op)
            waiting += sorted(before, key=lambda op: op.name)
    return order


def _execute(op, inputs, seen, loop):
    if op.type in LOOPS:
        condition, body = _function(op, "cond"), _function(op, "body")
        outermost = op if loop is None else loop
        while _graph(condition, inputs, seen, outermost)[0]:
            inputs = _graph(body, inputs, seen, outermost)
        return inputs
    if op.type in BRANCHES:
        branch = "then_branch" if inputs[0] else "else_branch"
        return _graph(_function(op, branch), inputs[1:], seen, loop)
    if op.type in CALLS:
        return _graph(_function(op, "f"), inputs, seen, loop)
    found = _eagerly(op, inputs)
    shapes = ([tuple(x.shape) for x in tensors] for tensors in (inputs, found))
    seen.append(Executed(op, *shapes, loop))
    return found


def _function(op, attribute):
    name, graph = op.get_attr(attribute).name, op.graph
    while not graph._is_function(name):  # traced in a graph further out
        graph = graph.outer_graph
    return graph._get_function(name).graph


def _eagerly(op, inputs):
    if op.type == "Const":
        return [tf.constant(tf.make_ndarray(op.get_attr("value")), op.outputs[0].dtype)]
    execute = getattr(tf.raw_ops, op.type)
    attributes = op.node_def.attr
    arguments, left = [], list(inputs)
    for argument in op.op_def.input_arg:  # several tensors may be one argument
        size = argument.number_attr or argument.type_list_attr
        size = op.get_attr(size) if size else 1
        size = size if isinstance(size, int) else len(size)
        together = argument.number_attr or argument.type_list_attr
        arguments.append(left[:size] if together else left[0])
        left = left[size:]
    names = [n for n in inspect.signature(execute).parameters if n != "name"]
    options = {n: op.get_attr(n) for n in names if n in attributes}
    # Python may call an argument otherwise than the graph does: their order counts.
    free = (n for n in names if n not in attributes)
    found = execute(**options, **dict(zip(free, arguments, strict=False)))
    if found is None or isinstance(found, tf.Operation):
        return []
    return tf.nest.flatten(found) if isinstance(found, list | tuple) else [found]
