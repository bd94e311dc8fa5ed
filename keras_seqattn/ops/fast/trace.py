"""A step of a loop, traced three times: to plan it, for the way forth, and for back.

All three meet the same calls in the same order: products, and what is drawn. The plan
takes them down; forth does them and keeps the results; back returns what was kept, and
collects the factors of the gradients.
"""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.fast.products import Kernels, Matrices, Transposed, joined
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

    def multiply(self, x, kernel, dtype, bias):
        right = (kernel,) if bias is None else (kernel, bias)
        return self.product(Kernels, x, right, dtype)

    def multiply_each(self, x, matrices, dtype, transposed):
        kind = Transposed if transposed else Matrices
        return self.product(kind, x, (matrices,), dtype)


class PlannedProduct(NamedTuple):
    """A product before there is a loop.

    Attributes:
        kind: its class.
        x: its left factor.
        rights: its right factors, a tuple of tensors for each call that it does.
        results: a spec for each call.
    """

    kind: Any
    x: Any
    rights: list
    results: list

    @property
    def left(self):
        return _spec(self.x)

    @property
    def result(self):
        """The spec of all results beside each other."""
        if len(self.results) == 1:
            return self.results[0]
        width = sum(spec.shape[-1] for spec in self.results)
        shape = [*self.results[0].shape[:-1], width]
        return tf.TensorSpec(shape, self.results[0].dtype)


class Part(NamedTuple):
    """Which product a call of a step is, and which of its results."""

    product: int
    index: int


class Plan:
    """The first trace, which is never run.

    After `trace`:
        products: `PlannedProduct`s: calls with one left factor may be one product.
        parts: of each call for a product, its `Part`.
        kept: of each product and each other call, in the order in which a step comes to
            them, a nest of the specs of what is kept.
        captured: tensors from outside that the step reads, and that have gradients.
        variables: those that the step reads by itself.
        outputs, state: what the step returned, to know shapes and dtypes.
        reason: why the step cannot be traced again; None: it can.
    """

    def __init__(self):
        self.outside = tf.compat.v1.get_default_graph()
        self.products, self.parts, self.kept = [], [], []

    def trace(self, step, inputs, state):
        """Takes down what `step(inputs_t, state)` does, given their specs."""
        graph = tf.__internal__.FuncGraph("one_step")
        with graph.as_default(), traced_by(_Planned(self)), tf.GradientTape() as tape:
            given = tree.map_structure(placeholder, (inputs, state))
            self.outputs, self.state = step(*given)
        self.variables = tape.watched_variables()
        self.kept = [
            kept.results if isinstance(kept, PlannedProduct) else kept
            for kept in self.kept
        ]
        captured = graph.external_captures
        self.captured = [x for x in captured if x.dtype.is_floating]
        self.reason = _reason(graph)


class _Planned(Trace):
    def __init__(self, plan):
        super().__init__(plan.outside)
        self.plan = plan

    def product(self, kind, x, right, dtype):
        with self.outside.as_default():
            right = tuple(tf.cast(tf.convert_to_tensor(r), dtype) for r in right)
        place = self._place(kind, x)
        planned = self.plan.products[place]
        self.plan.parts.append(Part(place, len(planned.rights)))
        planned.rights.append(right)
        planned.results.append(tf.TensorSpec(kind.shape(x, *right), dtype))
        return placeholder(planned.results[-1])

    def _place(self, kind, x):
        """The number of the product that does this call."""
        products = self.plan.products
        for i, planned in enumerate(products):
            if kind.may_join and planned.kind is kind and planned.x is x:
                return i
        products.append(PlannedProduct(kind, x, [], []))
        self.plan.kept.append(products[-1])
        return len(products) - 1

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
        return placeholder(spec)


class Forth(Trace):
    """The way forth at one step; what it has `kept` is to be written down.

    Args:
        plan: `Plan`.
        products: all of them.
    """

    def __init__(self, plan, products):
        super().__init__(plan.outside)
        self.products, self.parts = products, iter(plan.parts)
        self.kept, self.results = [], {}

    def product(self, kind, x, right, dtype):
        part = next(self.parts)
        if part.index == 0:
            product = self.products[part.product]
            self.results[part.product] = self._keep(product.forward(x))
        return self.results[part.product][part.index]

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
        plan, products: see `Forth`.
        kept: what the way forth has kept at this step.
        tape: records the step.
    """

    def __init__(self, plan, products, kept, tape):
        super().__init__(plan.outside)
        self.tape = tape
        self.products, self.parts, self.kept = products, iter(plan.parts), iter(kept)
        self.factors, self.results = [], {}

    def product(self, kind, x, right, dtype):
        part = next(self.parts)
        if part.index == 0:
            product = self.products[part.product]
            self.results[part.product] = self._again(product, x)
        return self.results[part.product][part.index]

    def _again(self, product, x):
        results, place = next(self.kept), len(self.factors)
        self.tape.watch(x)  # where x has no gradient, W has one all the same
        self.factors.append((x, tf.zeros_like(joined(results))))  # if nobody asks

        @tf.custom_gradient
        def again(x):
            def gradient(*dys):
                dy = joined(dys)
                self.factors[place] = x, dy
                return product.of_left(dy)

            return [tf.identity(y) for y in results], gradient

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


def placeholder(spec):
    """Of a step that is traced, and never run."""
    return tf.compat.v1.placeholder(spec.dtype, spec.shape)


def _is_current(graph):
    return tf.compat.v1.get_default_graph() is graph


def _reason(graph):
    for operation in graph.get_operations():
        kind = operation.type
        if operation.op_def.is_stateful and kind not in READS:
            return f"a step does {kind}, which would happen again on the way back"
    return None
