"""Stock Keras recurrent layers, made by the name of the cell.

Encoders own stock layers, so that a GPU can run them with cuDNN.
"""

import functools

import keras

from keras_seqattn.checks import check_choice, check_count, check_rate
from keras_seqattn.layers.composite import clone_initializer
from keras_seqattn.layers.layer_norm_cells import LayerNormGRUCell, LayerNormLSTMCell
from keras_seqattn.layers.parts.keras_cell_checks import (
    Template,
    check_initializers_of_cell,
    check_keras_cell,
    check_recurrent_dropout,
)


def _normalized(cell_class, units, *, dtype, name, **arguments):
    """A Keras layer around one of our cells, which runs step by step."""
    of_layer = ("return_sequences", "return_state", "go_backwards")
    options = {key: arguments.pop(key) for key in of_layer}
    cell = cell_class(units, dtype=dtype, name="cell", **arguments)
    return keras.layers.RNN(cell, dtype=dtype, name=name, **options)


NAMED_CELLS = {
    "gru": keras.layers.GRU,  # Keras's and cuDNN's: resets after the product
    "gru_paper": functools.partial(keras.layers.GRU, reset_after=False),
    "lstm": keras.layers.LSTM,
    "simple": keras.layers.SimpleRNN,
    "layer_norm_gru": functools.partial(_normalized, LayerNormGRUCell),
    "layer_norm_lstm": functools.partial(_normalized, LayerNormLSTMCell),
}


class Recurrence:
    """The recipe for the recurrent layers of an encoder: a cell and its initializers.

    Not a layer: it owns no weights. Every layer made from it has its own cell and its
    own initial values (a Keras initializer object repeats its values, so it is cloned).

    Args:
        owner: name for the error messages.
        units: size of the cell's output.
        cell: `"gru"`, `"gru_paper"`, `"lstm"`, `"simple"`, `"layer_norm_gru"`,
            `"layer_norm_lstm"` or a Keras RNN cell, which serves as a template.
        recurrent_dropout: rate at which named cells drop their state in its product.
        kernel_initializer: initializer of the input kernels.
        recurrent_initializer: initializer of the recurrent kernels.
        bias_initializer: initializer of the biases. These three are for named cells: a
            cell object brings its own.
    """

    def __init__(self, owner, units, cell, recurrent_dropout=0.0, **initializers):
        check_count(owner, "units", units)
        check_rate(owner, "recurrent_dropout", recurrent_dropout)
        self.units, self.recurrent_dropout = units, recurrent_dropout
        self.initializers = {
            name: keras.initializers.get(value) for name, value in initializers.items()
        }
        self.cell = cell
        if isinstance(cell, str):
            check_choice(owner, "cell", cell, NAMED_CELLS)
        else:
            check_keras_cell(owner, cell, units, NAMED_CELLS)
            check_initializers_of_cell(owner, self.initializers)
            check_recurrent_dropout(owner, cell, recurrent_dropout)
            self.cell = Template(cell)

    def layer(self, *, backwards=False, dtype, name, seed=None):
        """A new stock layer that returns its sequence and its state.

        `seed` is that of its recurrent dropout.
        """
        options = {
            "return_sequences": True,
            "return_state": True,
            "go_backwards": backwards,
            "dtype": dtype,
            "name": name,
        }
        if isinstance(self.cell, str):
            options |= {
                n: clone_initializer(value) for n, value in self.initializers.items()
            }
            options |= {"recurrent_dropout": self.recurrent_dropout, "seed": seed}
            layer = NAMED_CELLS[self.cell](self.units, **options)
        else:
            layer = keras.layers.RNN(self.cell.new(), **options)
        # Keras 3.16 switches this off and then warns at every call with a mask. We pass
        # masks ourselves and do not depend on it.
        layer.supports_masking = True
        return layer

    def get_config(self):
        """The part of the owner's configuration about its recurrent layers."""
        named = isinstance(self.cell, str)
        return {
            "units": self.units,
            "cell": self.cell if named else self.cell.config,
            "recurrent_dropout": self.recurrent_dropout,
            **{
                name: keras.initializers.serialize(value)
                for name, value in self.initializers.items()
            },
        }
