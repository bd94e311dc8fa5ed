"""Cho et al. 2014: the decoder that reads a summary of the source at every step."""

from typing import Any, NamedTuple

import keras
from keras import ops, tree

from keras_seqattn.layers.context_cell import ContextCell, ContextState
from keras_seqattn.types import Step


class ChoState(NamedTuple):
    """The state of a `ChoCell`."""

    recurrent: Any
    fed: Any  # C c, the same at every step
    context: Any  # c itself, for the output


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ChoCell(ContextCell):
    """The decoder of the first RNN encoder-decoder for translation: no attention.

    The decoder around it needs `initial_state`, one vector: the encoder's last state
    h_N, e.g. `CopyBridge()(encoded)`. From it, two layers compute the vector c, which
    the decoder reads at every step, and the first state h_0. The output is `[h_t; c]`,
    for a `DeepOutputHead`; the alignments are zero everywhere.

    Args:
        units: size of h_N, of c and of every layer.
        cell: "gru_paper" (its reset gate acts on h_{t-1}, not on C c, as in GroundHog,
            the authors' program), or any other that `DecoderCell` takes.
        **kwargs: of `DecoderCell`. Every vector of a state with several, of an LSTM or
            of several layers, starts from its own V'.

    Equations:
        c = tanh(V h_N)  Cho (A: c)
        h_0 = tanh(V' c)  Cho (A: h_0)
        h_t = f(h_{t-1}, y_{t-1}, c)  Cho (2.2)
        V and V' have a bias besides.

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, 2 * units]
        alignment: [batch, target, source]

    Example:
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> decoder, last = AttentionDecoder(ChoCell(8)), keras.ops.ones((2, 8))
        >>> decoder(inputs, value, initial_state=last).shape
        TensorShape([2, 3, 16])

    References:
        Cho et al. 2014, arXiv:1406.1078.
    """

    state_type = ChoState

    def __init__(self, units, cell="gru_paper", **kwargs):
        super().__init__(units, cell, use_context=True, **kwargs)
        self.summary = self.make_projection(
            units, "summary", use_bias=True, activation="tanh"
        )
        self.starts = [
            self.make_projection(size, f"start_{i}", use_bias=True, activation="tanh")
            for i, size in enumerate(tree.flatten(self.recurrence.state_size))
        ]

    def initializers_of_cell(self):
        # V and V' use the other one.
        return {"recurrent_initializer": self.recurrent_initializer}

    @property
    def state_size(self):
        """The size of h_N, from which the initial state of the cell is computed."""
        return self.units

    def build(self, inputs_shape, value_shape):
        super().build(inputs_shape, value_shape)
        for layer in (self.summary, *self.starts):
            layer.build((None, self.units))

    def initial_state(self, memory, recurrent):
        context = self.summary(recurrent)  # Cho (A: c)
        starts = [start(context) for start in self.starts]  # Cho (A: h_0)
        recurrent = tree.pack_sequence_as(self.recurrence.state_size, starts)
        return ChoState(recurrent, self.recurrence.feed(context), context)

    def step(self, projected_t, state, memory, noise=(), training=None):
        past = ContextState(state.recurrent, state.fed)
        h, nowhere, new = super().step(projected_t, past, memory, noise, training)
        output = ops.concatenate([h, state.context], axis=-1)
        return Step(output, nowhere, state._replace(recurrent=new.recurrent))

    def compute_output_shape(self, inputs_shape, value_shape):
        return (*inputs_shape[:-1], 2 * self.units)

    def get_config(self):
        config = super().get_config()
        del config["use_context"]  # always
        return config
