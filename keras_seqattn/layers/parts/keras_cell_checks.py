"""Checks of a Keras RNN cell object in the place of the name of a cell."""

import keras
from keras import tree

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.parts.nested_layers import deserialize_part, serialize_part

_DEFAULTS = {  # The second one is that of older files.
    "kernel_initializer": ("he_uniform", "glorot_uniform"),
    "recurrent_initializer": ("orthogonal",),
    "bias_initializer": ("zeros",),
}


class Template:
    """A cell object of which every layer gets a copy with its own weights.

    Not a layer, so that Keras does not count the original among the owner's weights.
    """

    def __init__(self, cell):
        self.config = serialize_part(cell)

    def new(self):
        """A copy of the cell, without weights."""
        return deserialize_part(self.config)


def check_keras_cell(owner, cell, units, names):
    """Check that it is a cell object whose size is that of its owner."""
    is_layer = isinstance(cell, keras.layers.Layer) and hasattr(cell, "state_size")
    if not is_layer or isinstance(cell, keras.layers.RNN):  # a layer around a cell
        raise four_part_error(
            f"{owner} got an unusable cell",
            f"one of {sorted(names)} or a Keras RNN cell object",
            f"cell={abbreviated(cell)}",
            'Pass e.g. cell="lstm" or cell=keras.layers.LSTMCell(units)',
        )
    size = getattr(cell, "output_size", None)
    size = tree.flatten(cell.state_size)[0] if size is None else size
    if size != units:
        raise four_part_error(
            f"{owner} got a cell of another size than its own",
            f"one with output_size={units}",
            f"{type(cell).__name__} with output_size={size}",
            "Give both the same number of units",
        )


def check_recurrent_dropout(owner, cell, rate):
    """Check that a cell object has no recurrent_dropout beside it, which it ignores."""
    if rate:
        raise four_part_error(
            f"{owner} got recurrent_dropout beside a cell object",
            "0: the product with the state is inside the cell, out of reach",
            f"recurrent_dropout={abbreviated(rate)} and {abbreviated(cell)}",
            "Name the cell, e.g. cell='lstm', or, in an encoder, give the rate to "
            "the cell object",
        )


def check_no_dropout(owner, cell):
    """Check that a cell has no dropout: only Keras's RNN layer resets its masks."""
    for part in getattr(cell, "cells", [cell]):
        if getattr(part, "dropout", 0) or getattr(part, "recurrent_dropout", 0):
            raise four_part_error(
                f"{owner} got a Keras cell with dropout",
                "dropout=0 and recurrent_dropout=0: Keras keeps the dropout masks on "
                "the cell, and only its own RNN layer resets them",
                abbreviated(part),
                f"Give dropout to {owner} instead, whose masks are arguments",
            )


def check_initializers_of_cell(owner, initializers):
    """Check that no initializers are passed with a cell object, which ignores them.

    Args:
        owner: name for the message.
        initializers: `{"kernel_initializer": Initializer, ...}`.
    """
    for name, value in initializers.items():
        defaults = map(keras.initializers.get, _DEFAULTS[name])
        serialize = keras.initializers.serialize
        if serialize(value) not in map(serialize, defaults):
            raise four_part_error(
                f"{owner} got {name} beside a cell object",
                f"the default {_DEFAULTS[name][0]!r}",
                abbreviated(value),
                "Give it to the cell, which makes its own weights",
            )
