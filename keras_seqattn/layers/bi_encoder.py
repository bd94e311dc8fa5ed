"""The bidirectional encoder of Bahdanau et al. and Luong et al."""

import keras
from keras import ops, tree

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.parts.checks import check_residual_from
from keras_seqattn.layers.parts.run_recurrent import state_size
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class BiEncoder(Encoder):
    """Reads the source in both directions, one or more layers deep.

    Each position gets an annotation that knows the words before it and the words
    after it. The recurrent layers are stock Keras ones: a GPU runs them with cuDNN
    (which takes right-padded masks only; other kernels take any mask).

    Args:
        units: size of each direction's cell.
        cell: `"lstm"`, `"gru"` (Keras's and cuDNN's), `"gru_paper"` (reset before the
            product; its z is the paper's 1 - z), `"simple"`, `"layer_norm_lstm"`,
            `"layer_norm_gru"` (see `LayerNormLSTMCell`; not cuDNN's), or a Keras RNN
            cell object, of which every layer and direction gets a copy.
        layers: number of bidirectional layers.
        merge: how the directions are joined, values and states alike: `"concat"` (7)
            or `"sum"`.
        residual_from: the first layer, counted from 1, whose input is added to its
            output (RNMT+: 3); from 2 on both are equally wide. None: no residuals.
        **kwargs: of `Encoder`: dropout, seed, initializers.

    Call arguments:
        inputs: `[batch, source, depth]`, e.g. embedded tokens.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`. `values` are zero in the padding and carry the
        mask on to Keras layers; `mask` is always a tensor; `state` is a list with the
        state of each layer after its last real step, in the structure of the cell (LSTM
        `[h, c]`, GRU a tensor), forward joined with backward. Zero for a row in which
        nothing is real.

    Equations:
        fw[b, j] = cell(x[b, j], fw[b, j-1])
        bw[b, j] = cell(x[b, j], bw[b, j+1])
        h[b, j] = [fw[b, j]; bw[b, j]]  Bahdanau (7)
        (See A.2.1 of the paper.) A further layer reads h in place of x, and from the
        layer `residual_from` on it adds its input: h + x.

    Shapes:
        inputs: [batch, source, depth]
        values: [batch, source, 2 * units], with "sum" [batch, source, units]
        mask: [batch, source]
        state: per layer, [batch, 2 * units] or a list of these; "sum": [batch, units]

    Example:
        >>> encoded = BiEncoder(8, cell="gru")(keras.ops.ones((2, 5, 4)))
        >>> encoded.values.shape, encoded.state[0].shape
        (TensorShape([2, 5, 16]), TensorShape([2, 16]))

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
        Schuster, Paliwal 1997, Bidirectional recurrent neural networks.
        Chen et al. 2018, arXiv:1804.09849 (residuals).
    """

    def __init__(
        self,
        units,
        cell="lstm",
        layers=1,
        merge="concat",
        residual_from=None,
        **kwargs,
    ):
        super().__init__(units, cell, **kwargs)
        check_count("BiEncoder", "layers", layers)
        check_choice("BiEncoder", "merge", merge, ("concat", "sum"))
        self.layer_count, self.merge = layers, merge
        check_residual_from("BiEncoder", residual_from)
        self.residual_from = residual_from
        self.input_dropout = self.new_dropout()
        self.forward_layers = [
            self.new_layer(f"forward_{i}", 2 * i + 1) for i in range(layers)
        ]
        self.backward_layers = [
            self.new_layer(f"backward_{i}", 2 * i + 2, backwards=True)
            for i in range(layers)
        ]

    def build(self, inputs_shape, mask_shape=None):
        for forward, backward in self._pairs():
            forward.build(inputs_shape)
            backward.build(inputs_shape)
            inputs_shape = (*inputs_shape[:2], self._merged(self.units))

    def encode(self, inputs, mask, training):
        values, states = inputs, []
        for number, (forward, backward) in enumerate(self._pairs(), start=1):
            below = values
            read = self.input_dropout(below, training=training)
            fw, fw_state = self.run(forward, read, mask, training)
            bw, bw_state = self.run(backward, read, mask, training)
            values = self._join(fw, bw)  # Bahdanau (7)
            if self.residual_from is not None and number >= self.residual_from:
                values = values + below
            states.append(tree.map_structure(self._join, fw_state, bw_state))
        return Encoded(values, mask, states)

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        batch, source, _ = inputs_shape

        def shape(size):
            return (batch, self._merged(size))

        return Encoded(
            values=(batch, source, self._merged(self.units)),
            mask=(batch, source),
            state=[
                tree.map_structure(shape, state_size(layer))
                for layer in self.forward_layers
            ],
        )

    def get_config(self):
        return {
            **super().get_config(),
            "layers": self.layer_count,
            "merge": self.merge,
            "residual_from": self.residual_from,
        }

    def _pairs(self):
        return zip(self.forward_layers, self.backward_layers, strict=True)

    def _join(self, fw, bw):
        if self.merge == "sum":
            return fw + bw
        return ops.concatenate([fw, bw], axis=-1)

    def _merged(self, size):
        return size if self.merge == "sum" else 2 * size
