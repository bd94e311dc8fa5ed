"""A layer, how to call it, and what can be done to its arguments."""

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
    padding: dict  # {argument: its mask argument}, for the arguments that have one
    stepwise: Any = None  # (layer, **arguments) -> what the call returns, by steps
    zeros: bool = True  # whether results are zero in the padding

    def __repr__(self):
        return self.name


def sample(case, batch=4, source=7, target=5):
    """Call arguments, the same ones every time."""
    rng = np.random.default_rng(SEED)
    return case.arguments(rng, batch, source, target)


def tensors(arguments):
    """The arguments that are tensors, the others being options."""
    return {
        name: value
        for name, value in arguments.items()
        if all(isinstance(x, np.ndarray) for x in tree.flatten(value))
        and tree.flatten(value)
    }


def with_padding(case, arguments, filler):
    """The arguments with `filler` wherever a mask says padding."""
    filled = dict(arguments)
    for name, mask in case.padding.items():
        real = arguments[mask]
        real = real.reshape(real.shape + (1,) * (arguments[name].ndim - real.ndim))
        filled[name] = np.where(real, arguments[name], np.float32(filler))
    return filled


def with_more_padding(case, arguments, more):
    """The arguments with `more` padded positions, NaN, behind every sequence."""
    longer = dict(arguments)
    for name, mask in case.padding.items():
        widths = [(0, 0), (0, more)] + [(0, 0)] * (arguments[name].ndim - 2)
        longer[name] = np.pad(arguments[name], widths, constant_values=np.nan)
        longer[mask] = np.pad(arguments[mask], widths[:2])
    return longer


def one_row(case, arguments, row):
    """Row `row` alone, cut to its own length (at least one position)."""
    alone = {
        name: tree.map_structure(lambda x: x[row : row + 1], value)
        for name, value in tensors(arguments).items()
    }
    for name, mask in case.padding.items():
        length = max(1, int(arguments[mask][row].sum()))
        alone[name], alone[mask] = alone[name][:, :length], alone[mask][:, :length]
    return {**arguments, **alone}


def built(case, arguments=None):
    """The layer with weights that are nowhere all zero or all one."""
    layer = case.make()
    layer(**(arguments or sample(case)))
    rng = np.random.default_rng(SEED + 1)
    for weight in layer.trainable_weights:
        noise = rng.normal(scale=0.2, size=weight.shape)
        weight.assign(keras.ops.convert_to_numpy(weight) + noise)
    return layer


def under_policy(case, policy, arguments):
    """The layer, built under a dtype policy."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        layer = case.make()
        layer(**arguments)
        return layer
    finally:
        keras.config.set_dtype_policy(before)


def flat_tensors(arguments):
    """The tensors as a flat list, as the models below take them."""
    return tree.flatten(list(tensors(arguments).values()))


def symbolic(case, arguments, unknown=True):
    """Keras inputs for all tensors; batch and, for padded ones, length unknown."""
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
    """A Functional model of this layer alone; its inputs and outputs are flat lists."""
    arguments = sample(case)
    inputs = symbolic(case, arguments)
    outputs = layer(**{**arguments, **inputs})
    return keras.Model(tree.flatten(list(inputs.values())), tree.flatten(outputs))


def save_and_load(model):
    """The model after a round trip through a `.keras` file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        return keras.models.load_model(path)
