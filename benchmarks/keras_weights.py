"""Weights of Keras models by the names of `benchmarks.sizes.weights`."""

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.errors import four_part_error


def gru_weights(name, cell):
    """Return the weights of a `keras.layers.GRUCell` by name."""
    return {
        f"{name}.kernel": cell.kernel,
        f"{name}.recurrent_kernel": cell.recurrent_kernel,
        f"{name}.bias": cell.bias,
    }


def assign(variables, weights):
    """Assign arrays to variables; the parts of a tuple share one array."""
    for name, array in weights.items():
        parts = keras.tree.flatten(variables[name])
        rows = array.reshape(-1, parts[0].shape[-1])
        sizes = [int(np.prod(part.shape)) // part.shape[-1] for part in parts]
        shares = np.split(rows, np.cumsum(sizes[:-1]))
        for part, share in zip(parts, shares, strict=True):
            part.assign(share.reshape(part.shape))


def joined(value, shape):
    """Return one array of a shape, from one tensor or a tuple of them."""
    parts = value if isinstance(value, tuple) else (value,)
    parts = [np.asarray(tf.convert_to_tensor(part), "float32") for part in parts]
    return np.concatenate([p.reshape(-1, p.shape[-1]) for p in parts]).reshape(shape)


def check_complete(model, variables):
    """Check that all weights of a model are named, so that they are compared."""
    named = {id(variable) for variable in keras.tree.flatten(variables)}
    left = [v.path for v in model.trainable_variables if id(v) not in named]
    if left:
        raise four_part_error(
            f"{type(model).__name__} has weights without a name in the comparison",
            "a name for each weight",
            f"none for {', '.join(left)}",
            "Name them beside the others",
        )
