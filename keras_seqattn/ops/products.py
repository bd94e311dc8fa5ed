"""Products inside the loop over time, gradients of what stays the same outside of it.

Where W is the same in all steps, a kernel or the annotations of a sentence, the
gradient of `y_t = x_t W` has a sum over the steps:

    dx_t = dy_t W'
    dW = sum{x_t' dy_t : t} = X' dY

where X and dY have the rows of all steps. TensorFlow adds up dW step by step: each time
it reads and writes a whole matrix for a product with few rows. Here X and dY are kept,
and dW is one product after the loop. What does not depend on the step is done before
it: the cast of W, and the transpose of a kernel, by which the gradient multiplies.
"""

import contextlib
import contextvars

import keras
import tensorflow as tf
from keras import ops

_LOOP = contextvars.ContextVar("loop", default=None)


def in_loop():
    """Whether a step of `dynamic_unroll` is being traced."""
    return _LOOP.get() is not None


def multiply(x, kernel, dtype):
    """`x @ kernel`, with what need not be in the loop outside of it.

    Args:
        x: `[batch, ..., depth]`.
        kernel: variable `[depth, units]`.
        dtype: to multiply in, that of `x`.
    """
    loop = _loop_for(x)
    if loop is None:
        return ops.matmul(x, ops.cast(kernel, dtype))
    return loop.multiply(x, kernel, dtype, _Kernel)


def multiply_each(x, matrices, transposed=False):
    """`x @ matrices`, another matrix for each sentence.

    Args:
        x: `[batch, rows, depth]`.
        matrices: `[batch, depth, units]`; transposed: `[batch, units, depth]`.
        transposed: whether to multiply by their transposes.
    """
    loop = _loop_for(x)
    if loop is None or getattr(matrices, "graph", None) is not loop.outside:
        if transposed:
            return ops.einsum("bru,bsu->brs", x, matrices)
        return ops.matmul(x, matrices)
    dtype = keras.backend.result_type(x.dtype, matrices.dtype)
    kind = _Transposed if transposed else _Matrices
    return loop.multiply(ops.cast(x, dtype), matrices, dtype, kind)


def _loop_for(x):
    """The loop, unless a step is under a condition: what it does there stays there."""
    loop = _LOOP.get()
    if loop is None or loop.graph is not tf.compat.v1.get_default_graph():
        return None
    return None if None in x.shape[1:-1] else loop


class LoopProducts:
    """The products of one loop.

    A step is traced twice: in `planned` to see which products there are, and `at` a
    position, in the body of the loop.

    Args:
        batch: scalar, the size of the first axis of all that is multiplied.
        time: scalar, the number of steps.
    """

    def __init__(self, batch, time):
        self.batch, self.time = batch, time
        self.outside = tf.compat.v1.get_default_graph()
        self.products = []

    @contextlib.contextmanager
    def planned(self):
        """Around the trace that is never run."""
        with _as_loop(_Plan(self)):
            yield

    @contextlib.contextmanager
    def at(self, t):
        """Around a step; gives what `keep`s its factors."""
        step = _Step(self, t)
        with _as_loop(step):
            yield step

    def factors(self):
        """Arrays for the left factors of all steps."""
        return [
            tf.TensorArray(product.dtype, self.time, element_shape=product.shape)
            for product in self.products
        ]

    def finish(self, factors):
        """After the loop: from now on there is a gradient."""
        for product, array in zip(self.products, factors, strict=True):
            product.factors = array.stack()


class _Plan:
    """Takes the products down."""

    def __init__(self, loop):
        self.loop, self.outside = loop, loop.outside
        self.graph = tf.compat.v1.get_default_graph()

    def multiply(self, x, right, dtype, kind):
        with self.outside.as_default():
            product = kind(self.loop, right, dtype, x.shape)
        self.loop.products.append(product)
        return product.forward(x)


class _Step:
    """Does them, in the same order."""

    def __init__(self, loop, t):
        self.left, self.t, self.kept = list(loop.products), t, []
        self.outside, self.graph = loop.outside, tf.compat.v1.get_default_graph()

    def multiply(self, x, right, dtype, kind):
        self.kept.append(tf.stop_gradient(x))
        return self.left.pop(0).at(x, self.t)

    def keep(self, arrays):
        """Writes the left factors of this step."""
        pairs = zip(arrays, self.kept, strict=True)
        return [array.write(self.t, x) for array, x in pairs]


class _Product:
    """One product of the loop, in all steps of it.

    Autodiff would add up dW. So W is a constant in the loop, and dY leaves it as the
    gradient of an empty list, of which each step reads an element that it ignores.

    Args:
        loop: `LoopProducts`.
        right: W.
        dtype: to multiply in.
        shape: of x_t.
    """

    def __init__(self, loop, right, dtype, shape):
        self.dtype, self.shape, self.factors = dtype, shape, None
        self.right = tf.cast(tf.convert_to_tensor(right), dtype)
        self.element = {
            "element_shape": tf.stack([loop.batch, *shape[1:-1], self._units()]),
            "element_dtype": dtype,
        }
        self.ignored = self._ignored(loop.time)

    def _ignored(self, time):
        @tf.custom_gradient
        def empty(right):
            def gradient(dys):
                dys = tf.raw_ops.TensorListStack(input_handle=dys, **self.element)
                found = self._of_right(self.factors, dys)
                return tf.raw_ops.PreventGradient(input=found, message=_ONCE)

            found = tf.raw_ops.TensorListReserve(num_elements=time, **self.element)
            return found, gradient

        return empty(self.right)

    def _units(self):
        return self.right.shape[-1]

    def forward(self, x):
        return ops.matmul(x, self.right)

    def at(self, x, t):
        """y_t"""

        @tf.custom_gradient
        def product(x, ignored):
            return self.forward(x), lambda dy: (self._of_left(dy), dy)

        return product(
            x,
            tf.raw_ops.TensorListGetItem(
                input_handle=self.ignored, index=t, **self.element
            ),
        )


class _Kernel(_Product):
    """`[batch, ..., depth] @ [depth, units]`."""

    def __init__(self, *args):
        super().__init__(*args)
        # A product with a transposed factor takes twice the time.
        self.turned = tf.transpose(self.right)

    def _of_left(self, dy):
        return ops.matmul(dy, self.turned)

    def _of_right(self, xs, dys):
        rows = (tf.reshape(x, [-1, x.shape[-1]]) for x in (xs, dys))
        return tf.matmul(*rows, transpose_a=True)


class _Matrices(_Product):
    """`[batch, rows, depth] @ [batch, depth, units]`."""

    def _of_left(self, dy):
        return tf.matmul(dy, self.right, transpose_b=True)

    def _of_right(self, xs, dys):
        return tf.einsum("tbrd,tbru->bdu", xs, dys)


class _Transposed(_Product):
    """`[batch, rows, depth] @ [batch, units, depth]'`."""

    def _units(self):
        return tf.shape(self.right)[1]

    def forward(self, x):
        return tf.matmul(x, self.right, transpose_b=True)

    def _of_left(self, dy):
        return ops.matmul(dy, self.right)

    def _of_right(self, xs, dys):
        return tf.einsum("tbru,tbrd->bud", dys, xs)


@contextlib.contextmanager
def _as_loop(loop):
    token = _LOOP.set(loop)
    try:
        yield
    finally:
        _LOOP.reset(token)


_ONCE = (
    "dynamic_unroll has first derivatives only. Expected a gradient, received the "
    "gradient of one. Pass unroll=True, whose derivatives are TensorFlow's."
)
