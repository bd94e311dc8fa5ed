"""Products of a loop, whose right factors are the same in all steps.

The gradient of `y_t = x_t W` has a sum over the steps:

    dx_t = dy_t W'
    dW = sum{x_t' dy_t : t} = X' dY

where X and dY have the rows of all steps: one product after the loop. What does not
depend on the step is done before it: the cast of W, and the transpose of a kernel, by
which the gradient multiplies.
"""

import tensorflow as tf


class Kernel:
    """`[batch, ..., depth] @ [depth, units]`.

    Args:
        right: W, in the dtype to multiply in.
    """

    def __init__(self, right):
        self.right = right
        # A product of few rows with a transposed factor takes twice the time.
        self.turned = tf.transpose(right)

    @staticmethod
    def shape(x, right):
        """That of `y_t`."""
        return [*x.shape[:-1], right.shape[-1]]

    def forward(self, x):
        """`y_t`"""
        return tf.matmul(x, self.right)

    def of_left(self, dy):
        """`dx_t`"""
        return tf.matmul(dy, self.turned)

    def of_right(self, xs, dys):
        """`dW`, of the factors of all steps."""
        rows = (tf.reshape(x, [-1, x.shape[-1]]) for x in (xs, dys))
        return tf.matmul(*rows, transpose_a=True)


class Matrices:
    """`[batch, rows, depth] @ [batch, depth, units]`."""

    def __init__(self, right):
        self.right = right

    @staticmethod
    def shape(x, right):
        return [*x.shape[:-1], right.shape[-1]]

    def forward(self, x):
        return tf.matmul(x, self.right)

    def of_left(self, dy):
        return tf.matmul(dy, self.right, transpose_b=True)

    def of_right(self, xs, dys):
        return tf.einsum("tbrd,tbru->bdu", xs, dys)


class Transposed(Matrices):
    """`[batch, rows, depth] @ [batch, units, depth]'`."""

    @staticmethod
    def shape(x, right):
        return [*x.shape[:-1], right.shape[-2]]

    def forward(self, x):
        return tf.matmul(x, self.right, transpose_b=True)

    def of_left(self, dy):
        return tf.matmul(dy, self.right)

    def of_right(self, xs, dys):
        return tf.einsum("tbru,tbrd->bud", dys, xs)
