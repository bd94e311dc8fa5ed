"""A step of a loop, traced three times: to plan it, for the way forth, and for back.

All three meet the same calls in the same order: products, and what is drawn. The plan
takes them down; forth does them and keeps the results; back returns what was kept, and
collects the factors of the gradients.
"""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.fast.products import Kernel, Matrices, Transposed
from keras_seqattn.ops.products import traced_by

READS = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd"}


class Trace:
    """What `ops.products` asks of a loop; `take` says what becomes of a call.

    Args:
        outside: the graph that the loop is in.
    """

    def __init__(self, outside):
        self.outside, self.graph = outside, tf.compat.v1.get_default_graph()

    def is_inside(self, x):
        """Whether it is a tensor of the step, and not of a branch in it."""
        return getattr(x, "graph", None) is self.graph and _is_current(self.graph)

    def is_outside(self, x):
        """Whether it was there before the loop."""
        return getattr(x, "graph", None) is self.outside

    def multiply(self, x, kernel, dtype):
        return self.product(Kernel, x, kernel, dtype)

    def multiply_each(self, x, matrices, dtype, transposed):
        return self.product(Transposed if transposed else Matrices, x, matrices, dtype)


class PlannedProduct(NamedTuple):
    """A product before there is a loop: its class, right factor, and two specs."""

    kind: Any
    right: Any
    left: Any
    result: Any


class Plan:
    """The first trace, which is never run.

    After `trace`:
        products: `PlannedProduct`s.
        kept: of each call, a nest of the specs of what is kept.
        captured: tensors from outside that the step reads, and that have gradients.
        outputs, state: what the step returned, to know shapes and dtypes.
        reason: why the step cannot be traced again; None: it can.
    """

    def __init__(self):
        self.outside = tf.compat.v1.get_default_graph()
        self.products, self.kept = [], []

    def trace(self, step, inputs, state):
        """Takes down what `step(inputs_t, state)` does, given their specs."""
        graph = tf.__internal__.FuncGraph("one_step")
        with graph.as_default(), traced_by(_Planned(self)):
            given = tree.map_structure(_placeholder, (inputs, state))
            self.outputs, self.state = step(*given)
        captured = graph.external_captures
        self.captured = [x for x in captured if x.dtype.is_floating]
        self.reason = _reason(graph)


class _Planned(Trace):
    def __init__(self, plan):
        super().__init__(plan.outside)
        self.plan = plan

    def product(self, kind, x, right, dtype):
        with self.outside.as_default():
            right = tf.cast(tf.convert_to_tensor(right), dtype)
        left = _spec(x)
        result = tf.TensorSpec(kind.shape(x, right), dtype)
        self.plan.products.append(PlannedProduct(kind, right, left, result))
        return self._kept(result)

    def fused(self, function, *tensors):
        found = function.forward(*tensors)
        self.plan.kept.append(tree.map_structure(_spec, found))
        return found[0]

    def drawn(self, draw):
        with tf.__internal__.FuncGraph("drawn").as_default():
            found = draw()
        return self._kept(_spec(found))

    def _kept(self, spec):
        self.plan.kept.append(spec)
        return _placeholder(spec)


class Forth(Trace):
    """The way forth at one step; what it has `kept` is to be written down."""

    def __init__(self, outside, products):
        super().__init__(outside)
        self.products, self.kept = iter(products), []

    def product(self, kind, x, right, dtype):
        return self._keep(next(self.products).forward(x))

    def fused(self, function, *tensors):
        return self._keep(function.forward(*tensors))[0]

    def drawn(self, draw):
        return self._keep(draw())

    def _keep(self, found):
        self.kept.append(found)
        return found


class Back(Trace):
    """The way back at one step; `factors` has x and dy of each product.

    Args:
        outside: see `Trace`.
        products: all of them.
        kept: what the way forth has kept at this step.
    """

    def __init__(self, outside, products, kept):
        super().__init__(outside)
        self.products, self.kept = iter(products), iter(kept)
        self.factors = []

    def product(self, kind, x, right, dtype):
        product, y, place = next(self.products), next(self.kept), len(self.factors)
        self.factors.append((x, tf.zeros_like(y)))  # unless somebody asks

        @tf.custom_gradient
        def again(x):
            def gradient(dy):
                self.factors[place] = x, dy
                return product.of_left(dy)

            return tf.identity(y), gradient

        return again(x)

    def fused(self, function, *tensors):
        found, kept = next(self.kept)

        @tf.custom_gradient
        def again(*tensors):
            results = tree.map_structure(tf.identity, found)
            return results, lambda *dy: function.backward(tensors, kept, *dy)

        return again(*tensors)

    def drawn(self, draw):
        return next(self.kept)


def _spec(x):
    return tf.TensorSpec(x.shape, x.dtype)


def _placeholder(spec):
    return tf.compat.v1.placeholder(spec.dtype, spec.shape)


def _is_current(graph):
    return tf.compat.v1.get_default_graph() is graph


def _reason(graph):
    for operation in graph.get_operations():
        kind = operation.type
        if operation.op_def.is_stateful and kind not in READS:
            return f"a step does {kind}, which would happen again on the way back"
    return None
