"""`Case`: a layer and how to call it, and functions that change its arguments."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import tree

SEED = 20150409


class Case(NamedTuple):
    """A layer, and how to call it."""

    name: str
    make: Any  # () -> layer
    arguments: Any  # (rng, batch, source, target) -> call arguments, NumPy, padded
    padding: dict  # {argument: its mask argument}, for arguments with a mask
    stepwise: Any = None  # (layer, **arguments) -> results of the call, step by step
    zeros: bool = True  # whether results are zero in the padding

    def __repr__(self):
        return self.name


def sample(case, batch=4, source=7, target=5):
    """Return call arguments; they are the same in every call."""
    rng = np.random.default_rng(SEED)
    return case.arguments(rng, batch, source, target)


def tensors(arguments):
    """Return the arguments that are tensors; the others are options."""
    return {
        name: value
        for name, value in arguments.items()
        if all(isinstance(x, np.ndarray) for x in tree.flatten(value))
        and tree.flatten(value)
    }


def with_padding(case, arguments, filler):
    """Return the arguments with `filler` in the padding."""
    filled = dict(arguments)
    for name, mask in case.padding.items():
        real = arguments[mask]
        real = real.reshape(real.shape + (1,) * (arguments[name].ndim - real.ndim))
        filled[name] = np.where(real, arguments[name], np.float32(filler))
    return filled


def with_more_padding(case, arguments, more):
    """Return the arguments with `more` positions of padding, NaN, at the end."""
    longer = dict(arguments)
    for name, mask in case.padding.items():
        widths = [(0, 0), (0, more)] + [(0, 0)] * (arguments[name].ndim - 2)
        longer[name] = np.pad(arguments[name], widths, constant_values=np.nan)
        longer[mask] = np.pad(arguments[mask], widths[:2])
    return longer


def one_row(case, arguments, row):
    """Return one row alone, cut to its own length (at least one position)."""
    alone = {
        name: tree.map_structure(lambda x: x[row : row + 1], value)
        for name, value in tensors(arguments).items()
    }
    for name, mask in case.padding.items():
        length = max(1, int(arguments[mask][row].sum()))
        alone[name], alone[mask] = alone[name][:, :length], alone[mask][:, :length]
    return {**arguments, **alone}


def built(case, arguments=None):
    """Return the layer, built, with noise in all weights."""
    layer = case.make()
    layer(**(arguments or sample(case)))
    rng = np.random.default_rng(SEED + 1)
    for weight in layer.trainable_weights:
        noise = rng.normal(scale=0.2, size=weight.shape)
        weight.assign(keras.ops.convert_to_numpy(weight) + noise)
    return layer


def under_policy(case, policy, arguments):
    """Return the layer, built under a dtype policy."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        layer = case.make()
        layer(**arguments)
        return layer
    finally:
        keras.config.set_dtype_policy(before)


def flat_tensors(arguments):
    """Return the tensors as a flat list, for the model of `functional`."""
    return tree.flatten(list(tensors(arguments).values()))


def symbolic(case, arguments, unknown=True):
    """Return Keras inputs for all tensors; batch and padded lengths are unknown."""
    timed = {*case.padding, *case.padding.values()}

    def symbol(name, x):
        if not unknown:
            return keras.Input(batch_shape=x.shape, dtype=x.dtype.name)
        shape = (None, *x.shape[2:]) if name in timed else x.shape[1:]
        return keras.Input(shape, dtype=x.dtype.name)

    return {
        name: tree.map_structure(lambda x, name=name: symbol(name, x), value)
        for name, value in tensors(arguments).items()
    }


def functional(case, layer):
    """Return a Functional model of the layer; inputs and outputs are flat lists."""
    arguments = sample(case)
    inputs = symbolic(case, arguments)
    outputs = layer(**{**arguments, **inputs})
    return keras.Model(tree.flatten(list(inputs.values())), tree.flatten(outputs))


def save_and_load(model):
    """Save a model in a `.keras` file, and return the loaded model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        return keras.models.load_model(path)
