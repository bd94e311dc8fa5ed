"""Weights that are stored as float32, in 16 bits (bfloat16), or as int8."""

import contextlib

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.checks import check_choice

KINDS = ("float32", "bfloat16", "int8")
_SMALL = 1024  # numbers; smaller weights stay float32


class StoredWeights(tf.Module):
    """The variables of a model in the form in which a SavedModel stores them.

    A traced function calls the model inside of `with stored.read():`. There the weights
    become float32 again, once per call and before any loop, so a step takes as long as
    before. The model itself does not change.

    Args:
        model: `Seq2Seq`, `Ensemble`, or another model with Keras `variables`.
        kind: "float32" leaves the weights as they are. "bfloat16" needs half of the
            bytes. "int8" needs a quarter; it is symmetric, with a float32 scale for
            each row or each column of a matrix, whichever has the smaller error. Small
            weights such as biases stay float32.
    """

    def __init__(self, model, kind="float32"):
        check_kind(kind)
        super().__init__()
        variables = getattr(model, "variables", ())  # a user's model may have none
        stored = [(variable, *_store(variable, kind)) for variable in variables]
        self.stored = [parts for _, parts, _ in stored]
        # Behind a lambda, because tf.Module would track and save an attribute.
        self._values = lambda: [
            (variable, read(*parts)) for variable, parts, read in stored if read
        ]

    @contextlib.contextmanager
    def read(self):
        """Make layers read the stored weights; use it once in each traced function."""
        values = self._values()
        with keras.StatelessScope(values) if values else contextlib.nullcontext():
            yield


def check_kind(kind):
    """Check the name of a way to store weights."""
    check_choice("export", "value of weights", kind, KINDS)


def _store(variable, kind):
    """Return variables to store, and a function that reads them.

    The function is None if layers can read the variable itself.
    """
    if not isinstance(variable, keras.Variable):
        return [variable], None
    is_large = len(variable.shape) > 1 and np.prod(variable.shape) >= _SMALL
    if kind == "float32" or not is_large or variable.dtype != "float32":
        return [variable.value], None
    value = keras.ops.convert_to_numpy(variable)
    if kind == "bfloat16":
        return [_variable(tf.cast(value, tf.bfloat16))], _from_bfloat16
    return [_variable(part) for part in quantized(value)], _from_int8


def quantized(value):
    """Return int8 numbers, and the float32 scales with which they are multiplied.

    Equations:
        scale[i] = max{|value[i, j]| : j} / 127
        q[i, j] = round(value[i, j] / scale[i])
        for the axis i whose q * scale is nearest to the value
    """
    candidates = [_along(value, axis) for axis in range(value.ndim)]
    return min(candidates, key=lambda pair: np.square(pair[0] * pair[1] - value).sum())


def _along(value, axis):
    others = tuple(i for i in range(value.ndim) if i != axis)
    scale = np.abs(value).max(axis=others, keepdims=True).astype("float32") / 127
    steps = value / np.where(scale == 0, 1, scale)
    return np.rint(steps).astype("int8"), scale


def _variable(value):
    return tf.Variable(value, trainable=False)


def _from_bfloat16(value):
    return tf.cast(value, tf.float32)


def _from_int8(value, scale):
    return tf.cast(value, tf.float32) * scale
