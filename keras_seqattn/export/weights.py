"""Weights in fewer bytes: what a graph reads in place of a model's variables."""

import contextlib

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.errors import four_part_error

KINDS = ("float32", "bfloat16", "int8")
_SMALL = 1024  # numbers: fewer are not worth it


class StoredWeights(tf.Module):
    """The variables of a model, as a SavedModel will hold them.

    A function that is traced uses the model inside of `with stored.read():`. There they
    become float32 again, once per call and before any loop, so that a step costs what
    it did. The model itself stays as it is.

    Args:
        model: with Keras `variables`; `Seq2Seq`, `Ensemble`, or your own.
        kind: "float32": as they are. "bfloat16": half the bytes; "int8": a quarter,
            symmetric, with a float32 scale for each row or each column of a matrix,
            whichever errs less. Biases and other small things stay as they are.
    """

    def __init__(self, model, kind="float32"):
        check_kind(kind)
        super().__init__()
        variables = getattr(model, "variables", ())  # a model of one's own has none
        stored = [(variable, *_store(variable, kind)) for variable in variables]
        self.stored = [parts for _, parts, _ in stored]
        # In a function: what a module has as an attribute is saved with it.
        self._values = lambda: [
            (variable, read(*parts)) for variable, parts, read in stored if read
        ]

    @contextlib.contextmanager
    def read(self):
        """What the layers read meanwhile is what is stored: once in each function."""
        values = self._values()
        with keras.StatelessScope(values) if values else contextlib.nullcontext():
            yield


def check_kind(kind):
    """It is one that can be stored."""
    if kind not in KINDS:
        raise four_part_error(
            "export got unknown weights",
            f"one of {list(KINDS)}",
            f"weights={kind!r}",
            "Check the spelling",
        )


def _store(variable, kind):
    """Variables to keep, and how to read them; None: as the layers do anyway."""
    if not isinstance(variable, keras.Variable):
        return [variable], None
    is_large = len(variable.shape) > 1 and np.prod(variable.shape) >= _SMALL
    if kind == "float32" or not is_large or variable.dtype != "float32":
        return [variable.value], None
    value = keras.ops.convert_to_numpy(variable)
    if kind == "bfloat16":
        return [_kept(tf.cast(value, tf.bfloat16))], _from_bfloat16
    return [_kept(part) for part in quantized(value)], _from_int8


def quantized(value):
    """int8, and the float32 scale with which it is multiplied.

    Equations:
        scale[i] = max{|value[i, j]| : j} / 127
        q[i, j] = round(value[i, j] / scale[i])
        for the axis i whose q * scale is nearest to the value
    """
    found = [_along(value, axis) for axis in range(value.ndim)]
    return min(found, key=lambda pair: np.square(pair[0] * pair[1] - value).sum())


def _along(value, axis):
    others = tuple(i for i in range(value.ndim) if i != axis)
    scale = np.abs(value).max(axis=others, keepdims=True).astype("float32") / 127
    steps = value / np.where(scale == 0, 1, scale)
    return np.rint(steps).astype("int8"), scale


def _kept(value):
    return tf.Variable(value, trainable=False)


def _from_bfloat16(value):
    return tf.cast(value, tf.float32)


def _from_int8(value, scale):
    return tf.cast(value, tf.float32) * scale
