"""Operations that a loop over time may optimise: products, equations, random masks.

A loop of `ops.fast` computes all that does not depend on the step before the loop, and
the gradients of kernels after it. Such a loop announces itself with `traced_by`.
Outside of a loop these are plain operations.
"""

import contextlib
import contextvars
import math
from collections.abc import Callable
from typing import NamedTuple

import keras
import tensorflow as tf
from keras import ops

_LOOP = contextvars.ContextVar("loop", default=None)


def multiply(x, kernel, dtype, bias=None):
    """`x @ kernel + bias`, the same kernel in all steps.

    Args:
        x: `[batch, ..., depth]`.
        kernel: variable `[depth, units]`.
        dtype: of the product, the dtype of `x`.
        bias: variable `[units]`, or None.
    """
    loop = _loop_of(x)
    if loop is not None:
        return loop.multiply(x, kernel, dtype, bias)
    product = ops.matmul(x, ops.cast(kernel, dtype))
    return product if bias is None else ops.add(product, ops.cast(bias, dtype))


def apply_dense(dense, x):
    """`dense(x)` at a step: fast inside of a fast loop.

    Args:
        dense: a `keras.layers.Dense`.
        x: `[batch, ..., depth]`.
    """
    is_plain = dense.quantization_mode is None and not dense.lora_enabled
    if not (is_plain and in_loop()):
        return dense(x)
    product = multiply(x, dense.kernel, dense.compute_dtype, dense.bias)
    return product if dense.activation is None else dense.activation(product)


def multiply_each(x, matrices, transposed=False):
    """`x @ matrices`, with one matrix for each sentence, the same in all steps.

    Args:
        x: `[batch, ..., depth]`.
        matrices: `[batch, depth, units]`; transposed: `[batch, units, depth]`.
        transposed: whether to multiply by their transposes.

    Returns:
        `[batch, ..., units]`.
    """
    shape = ops.shape(x)
    units = ops.shape(matrices)[1] if transposed else matrices.shape[-1]
    rows = ops.reshape(x, (shape[0], math.prod(shape[1:-1]), shape[-1]))
    loop = _loop_of(rows)
    if loop is not None and loop.is_outside(matrices):
        dtype = keras.backend.result_type(rows.dtype, matrices.dtype)
        rows = ops.cast(rows, dtype)
        product = loop.multiply_each(rows, matrices, dtype, transposed)
    elif transposed:
        product = ops.einsum("bru,bsu->brs", rows, matrices)
    else:
        product = ops.matmul(rows, matrices)
    return ops.reshape(product, (*shape[:-1], units))


class Fused(NamedTuple):
    """Equations whose gradient is written by hand.

    `forward(*tensors)` returns the results, a tensor or a tuple, and a tuple of tensors
    to keep. `backward(tensors, kept, *upstream)` returns the gradients of the tensors.
    """

    forward: Callable
    backward: Callable


def fused(function, *tensors):
    """Return the results of a `Fused` function."""
    loop = _loop_of(tensors[0])
    if loop is not None:
        return loop.fused(function, *tensors)

    @tf.custom_gradient
    def alone(*tensors):
        results, kept = function.forward(*tensors)
        return results, lambda *dy: function.backward(tensors, kept, *dy)

    return alone(*tensors)


def drawn(draw, like):
    """Return `draw()`, a random tensor of this step, e.g. a dropout mask.

    Args:
        draw: function without arguments.
        like: a tensor of the step.
    """
    loop = _loop_of(like)
    return draw() if loop is None else loop.drawn(draw)


def in_loop():
    """Whether a fast loop is tracing one of its steps."""
    return _LOOP.get() is not None


@contextlib.contextmanager
def traced_by(loop):
    """Let `loop` run the functions above while it traces a step."""
    token = _LOOP.set(loop)
    try:
        yield loop
    finally:
        _LOOP.reset(token)


def _loop_of(x):
    """The loop; None outside of a loop, and in a branch (`tf.cond`) of a step."""
    loop = _LOOP.get()
    if loop is None or not loop.is_inside(x):
        return None
    return None if None in x.shape[1:-1] else loop
