"""The deep encoder of Google's neural machine translation system."""

import keras
from keras import tree

from keras_seqattn.checks import check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.parts.run_recurrent import state_size
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class StackedEncoder(Encoder):
    """One bidirectional layer below, one-way layers above it, residuals (GNMT).

    Args:
        units: size of each cell, in the bottom layer of each direction.
        cell: a name or a Keras RNN cell object, see `BiEncoder`.
        layers: number of layers, the bidirectional one included; 8 in the paper. At
            least 2: for a single one there is `BiEncoder`.
        residual_from: the first layer, counted from 1, whose input is added to its
            output; the paper's is the third. None: no residuals.
        **kwargs: of `Encoder`: dropout, seed, initializers.

    Call arguments:
        inputs: `[batch, source, depth]`, e.g. embedded tokens.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`, as `BiEncoder` does. The first entry of `state`
        is twice as wide as the others: it is the bidirectional layer's.

    Equations:
        x_t^1 = [fw; bw], the bidirectional layer  Wu (3.2)
        m_t^i = LSTM_i(m_{t-1}^i, x_t^{i-1}), i counts layers from the bottom  Wu (5)
        x_t^i = m_t^i + x_t^{i-1} from the layer `residual_from` on  Wu (6: encoder)

    Shapes:
        inputs: [batch, source, depth]
        values: [batch, source, units]
        mask: [batch, source]
        state: first layer [batch, 2 * units], then [batch, units]; or lists of these

    Example:
        >>> encoded = StackedEncoder(8, layers=3)(keras.ops.ones((2, 5, 4)))
        >>> encoded.values.shape, len(encoded.state)
        (TensorShape([2, 5, 8]), 3)

    References:
        Wu et al. 2016, arXiv:1609.08144.
    """

    def __init__(
        self,
        units,
        cell="lstm",
        layers=8,
        residual_from=3,
        **kwargs,
    ):
        super().__init__(units, cell, **kwargs)
        self._check_depth(layers, residual_from)
        self.layer_count, self.residual_from = layers, residual_from
        self.bottom = BiEncoder(cell=cell, name="bottom", **self.options_of_inner())
        self.input_dropout = self.new_dropout(3)  # the bottom uses three seeds
        self.upper_layers = [
            self.new_layer(f"upper_{i}", 3 + i) for i in range(1, layers)
        ]

    def build(self, inputs_shape, mask_shape=None):
        self.bottom.build(inputs_shape)
        inputs_shape = (*inputs_shape[:2], 2 * self.units)
        for layer in self.upper_layers:
            layer.build(inputs_shape)
            inputs_shape = (*inputs_shape[:2], self.units)

    def encode(self, inputs, mask, training):
        values, _, states = self.bottom(  # Wu (3.2)
            inputs, mask=mask, training=training
        )
        for number, layer in enumerate(self.upper_layers, start=2):
            below = values
            read = self.input_dropout(below, training=training)
            values, state = self.run(layer, read, mask, training)  # Wu (5)
            if self.residual_from is not None and number >= self.residual_from:
                values = values + below  # Wu (6: encoder)
            states = [*states, state]
        return Encoded(values, mask, states)

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        bottom = self.bottom.compute_output_shape(inputs_shape)
        batch, source, _ = inputs_shape
        upper = [
            tree.map_structure(lambda size: (batch, size), state_size(layer))
            for layer in self.upper_layers
        ]
        return Encoded(
            values=(batch, source, self.units),
            mask=bottom.mask,
            state=[*bottom.state, *upper],
        )

    def get_config(self):
        return {
            **super().get_config(),
            "layers": self.layer_count,
            "residual_from": self.residual_from,
        }

    def _check_depth(self, layers, residual_from):
        check_count("StackedEncoder", "layers", layers)
        if layers < 2:
            raise four_part_error(
                "StackedEncoder got too few layers",
                "at least 2, the bidirectional one and one above it",
                f"layers={layers}",
                "For a single bidirectional layer use BiEncoder",
            )
        if residual_from is not None and residual_from < 3:
            raise four_part_error(
                "StackedEncoder got an unusable residual_from",
                "3 or more",
                f"residual_from={abbreviated(residual_from)}: below the third layer "
                "the input is not as wide as the output",
                "Use None for no residuals",
            )
