"""Dtypes: half precision is for products, not for what has to be exact."""

import keras
from keras import ops


def at_least_float32(x):
    """`x` in float32, or in float64 if it is that already."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))
