"""Keras RNN cells whose products are normalised, for `keras.layers.RNN`."""

import keras
from keras import ops, tree

from keras_seqattn.layers.parts.gate_norm import GateNorm, forget_gates_open
from keras_seqattn.ops import cell as equations

# Fixed by the equations.
_NOT_OURS = (
    "activation",
    "recurrent_activation",
    "use_bias",
    "unit_forget_bias",
    "reset_after",
    "bias_regularizer",
    "bias_constraint",
)
_PLAIN = {
    "activation": "tanh",
    "recurrent_activation": "sigmoid",
    "use_bias": False,  # the norms have biases
    "bias_regularizer": None,
    "bias_constraint": None,
    "implementation": 2,  # one product for all gates; there is no other here
}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LayerNormLSTMCell(keras.layers.LSTMCell):
    """LSTM with layer normalisation inside, each gate by itself.

    As `cell=` of an encoder or a decoder write "layer_norm_lstm". Decoders then
    normalise what is fed back by itself, and hoist `LN(W x)` out of the loop; encoders
    run this cell in `keras.layers.RNN`, which computes it step by step and never with
    cuDNN.

    Args:
        units: size of the state.
        kernel_initializer: of W.
        recurrent_initializer: of U.
        bias_initializer: of b_W, but for the forget gate, where it is 1.
        dropout: rate for the inputs, one mask for a sequence, as in Keras.
        recurrent_dropout: rate for h_{t-1} in U h_{t-1}, one mask for a sequence and
            for all gates.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`, and Keras's regularizers and constraints of
            the two kernels.

    Call arguments:
        inputs: `[batch, depth]`, one step.
        states: `[h, c]`.
        training: whether dropout applies.

    Equations:
        LN(a) = g * (a - mean{a}) / sqrt(variance{a} + 1e-5) + b
        [i; f; g; o] = LN(U h_{t-1}) + LN(W x_t)
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(LN(c_t))
        (Ba et al., supplementary material.) Every LN has its own gain g and bias b,
        which makes the paper's further b superfluous. The paper's mean runs over
        all gates together, here over each one (Chen et al.).

    Shapes (of the layer around it):
        sequences: [batch, time, depth]
        output: [batch, time, units]

    Example:
        >>> layer = keras.layers.RNN(LayerNormLSTMCell(8), return_sequences=True)
        >>> layer(keras.ops.ones((2, 5, 4))).shape
        TensorShape([2, 5, 8])

    References:
        Ba, Kiros, Hinton 2016, arXiv:1607.06450.
        Chen et al. 2018, arXiv:1804.09849.
    """

    def __init__(
        self,
        units,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(
            units,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            unit_forget_bias=False,
            **_PLAIN,
            **kwargs,
        )
        bias = forget_gates_open(bias_initializer)
        self.input_norm = _norm(self, "input_norm", 4, bias)
        self.recurrent_norm = _norm(self, "recurrent_norm", 4)
        self.state_norm = _norm(self, "state_norm", 1)

    def build(self, input_shape):
        super().build(input_shape)
        for norm in (self.input_norm, self.recurrent_norm, self.state_norm):
            norm.build()

    def call(self, inputs, states, training=False):
        projected, recurrent = _products(self, inputs, states[0], training)
        return equations.layer_norm_lstm_step(
            projected, list(states), recurrent, self.state_norm
        )

    def get_config(self):
        return _without(super().get_config(), _NOT_OURS)


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LayerNormGRUCell(keras.layers.GRUCell):
    """GRU with layer normalisation inside, each gate by itself.

    As `cell=` of an encoder or a decoder write "layer_norm_gru"; see
    `LayerNormLSTMCell` for what that means.

    Args:
        units: size of the state.
        kernel_initializer: of W.
        recurrent_initializer: of U.
        bias_initializer: of b_W.
        dropout: rate for the inputs, one mask for a sequence, as in Keras.
        recurrent_dropout: rate for h_{t-1} in U h_{t-1}, one mask for a sequence and
            for all gates.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`, and Keras's regularizers and constraints of
            the two kernels.

    Call arguments:
        inputs: `[batch, depth]`, one step.
        states: `[h]`.
        training: whether dropout applies.

    Equations:
        LN(a) = g * (a - mean{a}) / sqrt(variance{a} + 1e-5) + b
        z = sigmoid(LN(W_z x_t) + LN(U_z h_{t-1}))
        r = sigmoid(LN(W_r x_t) + LN(U_r h_{t-1}))
        h~ = tanh(LN(W x_t) + r * LN(U h_{t-1}))
        h_t = z * h_{t-1} + (1 - z) * h~
        Every LN has its own gain g and bias b. The reset gate acts after the
        product, as in Keras's GRU. The paper's mean runs over both gates together, here
        over each one (Chen et al.).

    Shapes (of the layer around it):
        sequences: [batch, time, depth]
        output: [batch, time, units]

    Example:
        >>> layer = keras.layers.RNN(LayerNormGRUCell(8), return_sequences=True)
        >>> layer(keras.ops.ones((2, 5, 4))).shape
        TensorShape([2, 5, 8])

    References:
        Ba, Kiros, Hinton 2016, arXiv:1607.06450.
        Chen et al. 2018, arXiv:1804.09849.
    """

    def __init__(
        self,
        units,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(
            units,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            reset_after=True,
            **_PLAIN,
            **kwargs,
        )
        self.input_norm = _norm(self, "input_norm", 3, self.bias_initializer)
        self.recurrent_norm = _norm(self, "recurrent_norm", 3)

    def build(self, input_shape):
        super().build(input_shape)
        for norm in (self.input_norm, self.recurrent_norm):
            norm.build()

    def call(self, inputs, states, training=False):
        nested = tree.is_nested(states)
        h = states[0] if nested else states
        projected, recurrent = _products(self, inputs, h, training)
        h, _ = equations.layer_norm_gru_step(projected, h, recurrent)
        return h, [h] if nested else h

    def get_config(self):
        return _without(super().get_config(), _NOT_OURS)


def _norm(cell, name, gates, bias="zeros"):
    return GateNorm(cell.units, gates, bias, dtype=cell.dtype_policy, name=name)


def _products(cell, inputs, h, training):
    """Return `LN(W x)` and `LN(U h)`, both after dropout."""
    # Keras's RNN layer draws the masks before its loop and forgets them after it; for
    # some cells there are several, one for each gate, of which we need one.
    if training and cell.dropout:
        inputs = inputs * tree.flatten(cell.get_dropout_mask(inputs))[0]
    if training and cell.recurrent_dropout:
        h = h * tree.flatten(cell.get_recurrent_dropout_mask(h))[0]
    projected = cell.input_norm(ops.matmul(inputs, cell.kernel))
    return projected, cell.recurrent_norm(ops.matmul(h, cell.recurrent_kernel))


def _without(config, names):
    return {name: value for name, value in config.items() if name not in names}
