"""One step of a fast loop, forward and backward.

The forward pass does the calls of the step that the plan (`ops.fast.plan`) has
recorded, and keeps their results. The backward pass traces the step again: the same
calls return the kept results, and it collects the factors of the gradients.

Most calls are products whose right factors are the same in all steps. The gradient of
`y_t = x_t W + b` has sums over the steps:

    dx_t = dy_t W'
    dW = sum{x_t' dy_t : t} = X' dY
    db = sum{dy_t : t}

where X and dY have the rows of all steps: one product after the loop. The cast of W,
and the transpose W' for the gradient, are computed before the loop.
"""

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.precision import at_least_float32


class Kernels:
    """`[batch, ..., depth] @ [depth, units] + [units]`: all kernels of one factor x.

    If a step multiplies x by several kernels, it multiplies by all of them at once:
    `x [W_1 W_2] + [b_1 b_2]`. The results are the parts of one tensor.

    Args:
        rights: `(W,)` or `(W, b)` for each kernel, in the dtype of the product.
    """

    may_join = True

    def __init__(self, rights):
        self.rights = rights
        self.sizes = [right[0].shape[-1] for right in rights]
        self.kernel = joined([right[0] for right in rights])
        # A product of few rows with a transposed factor takes twice the time.
        self.turned = tf.transpose(self.kernel)
        self.bias = None
        if any(len(right) == 2 for right in rights):
            self.bias = joined([_bias(*right) for right in rights])

    @staticmethod
    def shape(x, kernel, bias=None):
        """The shape of one result."""
        return [*x.shape[:-1], kernel.shape[-1]]

    def forward(self, x):
        """`y_t` of each kernel."""
        y = tf.matmul(x, self.kernel)
        return self._parts(y if self.bias is None else tf.nn.bias_add(y, self.bias))

    def _parts(self, y):
        return [y] if len(self.sizes) == 1 else tf.split(y, self.sizes, axis=-1)

    def of_left(self, dy):
        """`dx_t`"""
        return tf.matmul(dy, self.turned)

    def of_rights(self, xs, dys):
        """`dW` and `db` of each kernel, from the factors of all steps."""
        xs, dys = (tf.reshape(x, [-1, x.shape[-1]]) for x in (xs, dys))
        kernels = self._parts(tf.matmul(xs, dys, transpose_a=True))
        if self.bias is None:
            return kernels
        total = tf.reduce_sum(at_least_float32(dys), axis=0)  # too many for half
        pairs = zip(kernels, self._parts(tf.cast(total, dys.dtype)), strict=True)
        of_each = zip(self.rights, pairs, strict=True)
        return [dx for right, pair in of_each for dx in pair[: len(right)]]


class Matrices:
    """`[batch, rows, depth] @ [batch, depth, units]`."""

    may_join = False

    def __init__(self, rights):
        [[self.right]] = rights

    @staticmethod
    def shape(x, right):
        return [*x.shape[:-1], right.shape[-1]]

    def forward(self, x):
        return [tf.matmul(x, self.right)]

    def of_left(self, dy):
        return tf.matmul(dy, self.right, transpose_b=True)

    def of_rights(self, xs, dys):
        return [tf.einsum("tbrd,tbru->bdu", xs, dys)]


class Transposed(Matrices):
    """`[batch, rows, depth] @ [batch, units, depth]'`."""

    @staticmethod
    def shape(x, right):
        return [*x.shape[:-1], right.shape[-2]]

    def forward(self, x):
        return [tf.matmul(x, self.right, transpose_b=True)]

    def of_left(self, dy):
        return tf.matmul(dy, self.right)

    def of_rights(self, xs, dys):
        return [tf.einsum("tbru,tbrd->bud", dys, xs)]


def joined(tensors):
    """The tensors, concatenated along the last axis."""
    return tensors[0] if len(tensors) == 1 else tf.concat(tensors, axis=-1)


def _bias(kernel, bias=None):
    return tf.zeros_like(kernel[0]) if bias is None else bias


class Trace:
    """The functions of `ops.loop_ops` inside of a loop; a subclass defines the calls.

    Args:
        outside: the graph that the loop is in.
    """

    def __init__(self, outside):
        self.outside, self.graph = outside, tf.compat.v1.get_default_graph()

    def is_inside(self, x):
        """Whether `x` is a tensor of the step, and not of a branch in it."""
        return getattr(x, "graph", None) is self.graph and _is_current(self.graph)

    def is_outside(self, x):
        """Whether `x` was computed before the loop."""
        return getattr(x, "graph", None) is self.outside

    def multiply(self, x, kernel, dtype, bias):
        right = (kernel,) if bias is None else (kernel, bias)
        return self.product(Kernels, x, right, dtype)

    def multiply_each(self, x, matrices, dtype, transposed):
        kind = Transposed if transposed else Matrices
        return self.product(kind, x, (matrices,), dtype)


class ForwardTrace(Trace):
    """The forward pass of one step; `kept` has the tensors for the backward pass.

    Args:
        plan: `Plan`.
        products: the products of the loop.
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

    def _keep(self, results):
        self.kept.append(results)
        return results


class BackwardTrace(Trace):
    """The backward pass of one step; `factors` has x and dy of each product.

    Args:
        plan, products: see `ForwardTrace`.
        kept: the tensors that the forward pass has kept at this step.
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
        self.tape.watch(x)  # W has a gradient even where x has none
        self.factors.append((x, tf.zeros_like(joined(results))))  # if dy is not used

        @tf.custom_gradient
        def again(x):
            def gradient(*dys):
                dy = joined(dys)
                self.factors[place] = x, dy
                return product.of_left(dy)

            return [tf.identity(y) for y in results], gradient

        return again(x)

    def fused(self, function, *tensors):
        results, kept = next(self.kept)

        @tf.custom_gradient
        def again(*tensors):
            copies = tree.map_structure(tf.identity, results)
            return copies, lambda *dy: function.backward(tensors, kept, *dy)

        return again(*tensors)

    def drawn(self, draw):
        return next(self.kept)


def _is_current(graph):
    return tf.compat.v1.get_default_graph() is graph
