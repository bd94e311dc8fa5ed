"""The one-way encoder of Sutskever et al. and Luong et al."""

import keras
from keras import tree

from keras_seqattn.checks import check_count
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.parts.checks import check_residual_from
from keras_seqattn.layers.parts.run_recurrent import state_size
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class UniEncoder(Encoder):
    """Reads the source in one direction, one or more layers deep.

    The recurrent layers are stock Keras ones, see `BiEncoder`.

    Args:
        units: size of each cell.
        cell: a name or a Keras RNN cell object, see `BiEncoder`.
        layers: number of layers.
        go_backwards: whether every layer reads the source from its last word to its
            first. Both papers feed the reversed sentence; this is the same, but the
            values stay in the order of the source, and alignments need no remapping.
        residual_from: the first layer, counted from 1, whose input is added to its
            output; at least 2. None: no residuals.
        **kwargs: of `Encoder`: dropout, seed, initializers.

    Call arguments:
        inputs: `[batch, source, depth]`, e.g. embedded tokens.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`. `values` are zero in the padding and carry the
        mask on to Keras layers; `mask` is always a tensor; `state` is a list with the
        state of each layer after the last real step that it read, in the structure of
        the cell (LSTM `[h, c]`, GRU a tensor). Zero for a row in which nothing is real.

    Equations:
        h^l[b, j] = cell(x^l[b, j], h^l[b, j-1]), l counts layers from the bottom
        h^l[b, j] = cell(x^l[b, j], h^l[b, j+1]) with `go_backwards`
        x^{l+1} = h^l, from the layer `residual_from` on x^{l+1} = h^l + x^l

    Shapes:
        inputs: [batch, source, depth]
        values: [batch, source, units]
        mask: [batch, source]
        state: per layer, [batch, units] or a list of these

    Example:
        >>> encoder = UniEncoder(8, layers=2, go_backwards=True)
        >>> encoded = encoder(keras.ops.ones((2, 5, 4)))
        >>> encoded.values.shape, len(encoded.state)
        (TensorShape([2, 5, 8]), 2)

    References:
        Sutskever, Vinyals, Le 2014, arXiv:1409.3215.
        Luong, Pham, Manning 2015, arXiv:1508.04025.
    """

    def __init__(
        self,
        units,
        cell="lstm",
        layers=1,
        go_backwards=False,
        residual_from=None,
        **kwargs,
    ):
        super().__init__(units, cell, **kwargs)
        check_count("UniEncoder", "layers", layers)
        check_residual_from("UniEncoder", residual_from)
        self.layer_count, self.go_backwards = layers, go_backwards
        self.residual_from = residual_from
        self.input_dropout = self.new_dropout()
        self.recurrent_layers = [
            self.new_layer(f"layer_{i}", i + 1, backwards=go_backwards)
            for i in range(layers)
        ]

    def build(self, inputs_shape, mask_shape=None):
        for layer in self.recurrent_layers:
            layer.build(inputs_shape)
            inputs_shape = (*inputs_shape[:2], self.units)

    def encode(self, inputs, mask, training):
        values, states = inputs, []
        for number, layer in enumerate(self.recurrent_layers, start=1):
            below = values
            read = self.input_dropout(below, training=training)
            values, state = self.run(layer, read, mask, training)
            if self.residual_from is not None and number >= self.residual_from:
                values = values + below
            states.append(state)
        return Encoded(values, mask, states)

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        batch, source, _ = inputs_shape
        return Encoded(
            values=(batch, source, self.units),
            mask=(batch, source),
            state=[
                tree.map_structure(lambda size: (batch, size), state_size(layer))
                for layer in self.recurrent_layers
            ],
        )

    def get_config(self):
        return {
            **super().get_config(),
            "layers": self.layer_count,
            "go_backwards": self.go_backwards,
            "residual_from": self.residual_from,
        }
