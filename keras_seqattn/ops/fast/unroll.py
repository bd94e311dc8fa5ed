"""A loop over time whose gradient traces the step again, for the backward pass.

Autodiff keeps everything that a step has computed, and adds up the gradients of the
weights step by step. Here the forward pass stores only the states, products and random
masks (`ops.loop_ops`) that the backward pass needs. The backward pass computes the rest
again from these, e.g. the tanh of the scores: memory grows with the target, not with
target x source x units. The gradient of a kernel is one product after the loop.
"""

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.fast.call_context import CallContext
from keras_seqattn.ops.fast.passes import BackwardTrace, ForwardTrace
from keras_seqattn.ops.fast.plan import Plan, placeholder
from keras_seqattn.ops.loop_ops import traced_by
from keras_seqattn.ops.unroll import masked_step, static_unroll, swap, zero_outputs


def dynamic_unroll(step, inputs, state, mask=None, project=None):
    """As `ops.unroll.dynamic_unroll`, for steps that `Unrolling` supports."""
    if tf.executing_eagerly():
        return static_unroll(step, inputs, state, mask, project)
    return Unrolling(step, inputs, state, mask, project).run()


class Unrolling:
    """One call of `dynamic_unroll` in a graph, planned, and not yet run.

    `reason` says why the step cannot be traced again; None: it can.
    """

    def __init__(self, step, inputs, state, mask=None, project=None):
        inputs = tree.map_structure(swap, inputs)
        if project is not None:
            inputs = project(inputs)  # after the swap, which is cheaper on the inputs
        self.step, self.mask = step, mask
        self.context = CallContext()  # in the backward pass, the call is over
        self.inputs = inputs if mask is None else (inputs, swap(mask))
        self.state = tree.map_structure(tf.convert_to_tensor, state)
        self.time = tf.shape(tree.flatten(self.inputs)[0])[0]
        self.plan = Plan()
        at_once = tree.map_structure(lambda x: _spec(x, 0), self.state)
        at_a_step = tree.map_structure(lambda x: _spec(x, 1), self.inputs)
        self.plan.trace(self._step, at_a_step, at_once)
        self.reason = self.plan.reason

    def run(self):
        """The outputs, and the last state."""
        plan, needed = self.plan, self._needed()

        @tf.custom_gradient
        def loops(inputs, state, rights, captured):
            """`captured` is an argument so that it gets a gradient."""
            pairs = zip(plan.products, rights, strict=True)
            products = [planned.kind(those) for planned, those in pairs]
            inputs = [_unstacked(x) for x in inputs]
            results, kept = self._forward(products, inputs, state, needed)

            def gradient(*upstream, variables=()):
                kept_all = _spread_over(needed, kept)
                return self._backward(products, inputs, kept_all, upstream, variables)

            return results, gradient

        rights = [planned.rights for planned in plan.products]
        inputs, state = tree.flatten(self.inputs), tree.flatten(self.state)
        results = loops(inputs, state, rights, plan.captured)
        count = len(tree.flatten(plan.outputs))
        outputs = [swap(x) for x in results[:count]]
        outputs = tree.pack_sequence_as(plan.outputs, outputs)
        state = tree.pack_sequence_as(self.state, results[count:])
        return zero_outputs(outputs, self.mask), state

    def _step(self, inputs_t, state):
        """Run `step` on nests, or on the lists that `tree.flatten` makes of them."""
        inputs_t = tree.pack_sequence_as(self.inputs, tree.flatten(inputs_t))
        state = tree.pack_sequence_as(self.state, tree.flatten(state))
        inputs_t, mask_t = (inputs_t, None) if self.mask is None else inputs_t
        outputs, new = masked_step(self.step, inputs_t, state, mask_t)
        tree.assert_same_structure(self.state, new)
        return outputs, new

    @property
    def _kept(self):
        """Specs of all tensors that the backward pass may need, states first."""
        specs = [*tree.flatten(self.state), *tree.flatten(self.plan.kept)]
        return [_spec(x) for x in specs]

    def _needed(self):
        """For each, whether the backward pass needs it; traced, and never run."""
        specs = [_spec(x, 1) for x in tree.flatten(self.inputs)]
        graph = tf.__internal__.FuncGraph("one_step_back")
        with graph.as_default():
            products = [planned.kind(planned.rights) for planned in self.plan.products]
            inputs_t, kept_t = _placeholders(specs), _placeholders(self._kept)
            upstream = _floats(tree.flatten((self.plan.outputs, self.plan.state)))
            gradients = self._step_back(
                products, inputs_t, kept_t, _placeholders(upstream), self.plan.variables
            )
        used = _reached(tree.flatten(gradients))
        return [x.op in used for x in kept_t]

    def _forward(self, products, inputs, state, needed):
        """Outputs and last state, flat; and arrays of the tensors that are kept."""
        plan = self.plan

        def body(t, state, written, kept):
            trace = ForwardTrace(plan, products)
            with traced_by(trace):
                outputs, new = self._step([array.read(t) for array in inputs], state)
            written = _write(written, t, tree.flatten(outputs))
            all_kept = [*state, *tree.flatten(trace.kept)]
            kept = _write(kept, t, _where(needed, all_kept))
            return t + 1, _as(state, tree.flatten(new)), written, kept

        written = self._arrays(tree.flatten(plan.outputs))
        kept = self._arrays(_where(needed, self._kept))
        _, state, written, kept = self._while(body, state, written, kept)
        return [*(array.stack() for array in written), *state], kept

    def _step_back(self, products, inputs_t, kept_t, upstream, variables):
        """Gradients of inputs, of the past state, of others; factors of products."""
        plan, count = self.plan, len(tree.flatten(self.state))
        state, results = kept_t[:count], kept_t[count:]
        results = tree.pack_sequence_as(plan.kept, results)
        sources = _floats(inputs_t), _floats(state), [*plan.captured, *variables]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            trace = BackwardTrace(plan, products, results, tape)
            with traced_by(trace), self.context.again():
                results = self._step(inputs_t, state)
        gradients = tape.gradient(
            _floats(tree.flatten(results)),
            sources,
            upstream,
            unconnected_gradients=tf.UnconnectedGradients.ZERO,
        )
        return *gradients, [x for pair in trace.factors for x in pair]

    def _backward(self, products, inputs, kept, upstream, variables):
        """Gradients of the arguments of `loops`, and of the variables if there are."""
        plan = self.plan
        outputs = tree.flatten(plan.outputs)
        of_outputs = [
            _unstacked(dx) for dx in _where_float(outputs, upstream[: len(outputs)])
        ]
        of_last = _where_float(tree.flatten(plan.state), upstream[len(outputs) :])

        def body(i, of_state, sums, of_inputs, factors):
            t = self.time - 1 - i
            inputs_t = [array.read(t) for array in inputs]
            pairs = zip(kept, self._kept, strict=True)
            kept_t = [_unused(s) if a is None else a.read(t) for a, s in pairs]
            of_inputs_t, of_past, of_others, factors_t = self._step_back(
                products,
                inputs_t,
                kept_t,
                [*(array.read(t) for array in of_outputs), *of_state],
                variables,
            )
            of_inputs = _write(of_inputs, t, of_inputs_t)
            factors = _write(factors, t, factors_t)
            sums = [total + dx for total, dx in zip(sums, of_others, strict=True)]
            return i + 1, _as(of_state, of_past), sums, of_inputs, factors

        others = [*plan.captured, *map(tf.convert_to_tensor, variables)]
        float_inputs = _floats(tree.flatten(self.inputs))
        specs = [spec for p in plan.products for spec in (p.left, p.result)]
        _, of_state, sums, of_inputs, factors = self._while(
            body,
            of_last,
            [tf.zeros_like(x) for x in others],
            self._arrays([_spec(x, 1) for x in float_inputs]),
            self._arrays(specs),
        )
        pairs = zip(factors[::2], factors[1::2], strict=True)
        gradients = [
            *_spread(tree.flatten(self.inputs), [array.stack() for array in of_inputs]),
            *_spread(tree.flatten(self.state), of_state),
            *(
                dx
                for product, (xs, dys) in zip(products, pairs, strict=True)
                for dx in product.of_rights(xs.stack(), dys.stack())
            ),
            *sums,
        ]
        gradients = [x if x is None else _only_once(x) for x in gradients]
        split = len(gradients) - len(variables)
        return (gradients[:split], gradients[split:]) if variables else gradients

    def _arrays(self, specs):
        return [
            tf.TensorArray(spec.dtype, self.time, element_shape=spec.shape)
            for spec in specs
        ]

    def _while(self, body, *start):
        """`body(t, ...)` for t = 0, ..., time - 1."""
        return tf.while_loop(
            lambda t, *_: t < self.time,
            body,
            (tf.constant(0), *start),
            maximum_iterations=self.time,  # XLA sizes its stacks by it
        )


def _spec(x, axis=0):
    """The spec of `x` without the axes before `axis`."""
    return tf.TensorSpec(x.shape[axis:], x.dtype)


def _placeholders(specs):
    return [placeholder(spec) for spec in specs]


def _unused(spec):
    """A tensor of this spec that the step never reads."""
    some = tf.zeros([1 if size is None else size for size in spec.shape], spec.dtype)
    return tf.compat.v1.placeholder_with_default(some, spec.shape)


def _reached(tensors):
    """The operations that tensors depend on, inside of their graph."""
    seen, waiting = set(), [x.op for x in tensors]
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [*(x.op for x in op.inputs), *op.control_inputs]
    return seen


def _where(needed, values):
    return [x for x, is_needed in zip(values, needed, strict=True) if is_needed]


def _spread_over(needed, arrays):
    """The arrays, with None in the place of each tensor that is not needed."""
    left = iter(arrays)
    return [next(left) if is_needed else None for is_needed in needed]


def _unstacked(x):
    array = tf.TensorArray(x.dtype, tf.shape(x)[0], element_shape=x.shape[1:])
    return array.unstack(x)


def _write(arrays, t, values):
    return [array.write(t, x) for array, x in zip(arrays, values, strict=True)]


def _as(before, now):
    """`now` with the static shapes of `before`, which a step may have lost."""
    return [tf.ensure_shape(x, b.shape) for x, b in zip(now, before, strict=True)]


def _floats(tensors):
    return [x for x in tensors if x.dtype.is_floating]


def _where_float(tensors, others):
    pairs = zip(tensors, others, strict=True)
    return [other for x, other in pairs if x.dtype.is_floating]


def _spread(tensors, of_floats):
    """The gradients, with None in the place of each tensor that is not a float."""
    left = iter(of_floats)
    return [next(left) if x.dtype.is_floating else None for x in tensors]


def _only_once(x):
    return tf.raw_ops.PreventGradient(input=x, message=_ONCE)


_ONCE = (
    "The fast loop over time has first derivatives only. Expected a gradient, received "
    "the gradient of one. Pass implementation='reference' to the layer."
)
