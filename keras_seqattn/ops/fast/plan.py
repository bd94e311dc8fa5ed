"""The plan of a fast loop: the calls of one step, recorded by a trace that never runs.

A step of a fast loop is traced three times: for this plan, for the forward pass and for
the backward pass (`ops.fast.passes`). All three traces meet the same calls in the same
order: products, fused equations and random masks.
"""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.fast.passes import Trace
from keras_seqattn.ops.loop_ops import traced_by

READS = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd"}


class PlannedProduct(NamedTuple):
    """A product that the plan has recorded.

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
        """The spec of all results, concatenated."""
        if len(self.results) == 1:
            return self.results[0]
        width = sum(spec.shape[-1] for spec in self.results)
        shape = [*self.results[0].shape[:-1], width]
        return tf.TensorSpec(shape, self.results[0].dtype)


class Part(NamedTuple):
    """The product that answers a call of a step, and the index of the result."""

    product: int
    index: int


class Plan:
    """The first trace, which is never run.

    After `trace`:
        products: `PlannedProduct`s: calls with one left factor may be one product.
        parts: of each call for a product, its `Part`.
        kept: for each product and each other call, in the order of the step, a nest of
            the specs of the tensors that are kept.
        captured: tensors from outside that the step reads, and that have gradients.
        variables: those that the step reads by itself.
        outputs, state: results of the step, for shapes and dtypes.
        reason: why the step cannot be traced again; None: it can.
    """

    def __init__(self):
        self.outside = tf.compat.v1.get_default_graph()
        self.products, self.parts, self.kept = [], [], []

    def trace(self, step, inputs, state):
        """Record the calls of `step(inputs_t, state)`, given their specs."""
        graph = tf.__internal__.FuncGraph("one_step")
        with graph.as_default(), traced_by(_Planned(self)), tf.GradientTape() as tape:
            inputs_t, state_t = tree.map_structure(placeholder, (inputs, state))
            self.outputs, self.state = step(inputs_t, state_t)
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
        """The index of the product that answers this call."""
        products = self.plan.products
        for i, planned in enumerate(products):
            if kind.may_join and planned.kind is kind and planned.x is x:
                return i
        products.append(PlannedProduct(kind, x, [], []))
        self.plan.kept.append(products[-1])
        return len(products) - 1

    def fused(self, function, *tensors):
        results_and_kept = function.forward(*tensors)
        self.plan.kept.append(tree.map_structure(_spec, results_and_kept))
        return results_and_kept[0]

    def drawn(self, draw):
        with tf.__internal__.FuncGraph("drawn").as_default():
            spec = _spec(draw())
        self.plan.kept.append(spec)
        return placeholder(spec)


def _spec(x):
    return tf.TensorSpec(x.shape, x.dtype)


def placeholder(spec):
    """A placeholder for a step that is traced, and never run."""
    return tf.compat.v1.placeholder(spec.dtype, spec.shape)


def _reason(graph):
    for operation in graph.get_operations():
        kind = operation.type
        if operation.op_def.is_stateful and kind not in READS:
            return f"a step does {kind}, which the backward pass would do again"
    return None
