"""Dtypes: half precision is for products, not for values that must be exact."""

import keras
from keras import ops


def at_least_float32(x):
    """`x` in float32, or in float64 if it is that already."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))
