"""Sutskever et al. 2014, Cho et al. 2014: the decoder without attention."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.decoder_cell import DecoderCell
from keras_seqattn.layers.parts.cell_stack import CellStack
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Memory, Step


class ContextState(NamedTuple):
    """The state of a `ContextCell`."""

    recurrent: Any
    context: Any  # F c, the same at every step; () when the context is not fed


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ContextCell(DecoderCell):
    """A decoder without attention: it knows the source from its initial state only.

    The decoder around it needs `initial_state`, the encoder's final state; its
    alignments are zero everywhere.

    Args:
        units: size of every layer.
        cell: "gru", "lstm", or another that `DecoderCell` takes.
        layers: recurrent layers.
        use_context: whether the initial output of the top layer, c, is an input of the
            bottom layer at every step, too (Cho et al.); else the state alone carries
            it (Sutskever et al.). It is multiplied once, and is never dropped.
        **kwargs: of `DecoderCell`.

    Equations:
        h_t = f(h_{t-1}, y_{t-1}, c)  Cho (2.2)
        Cho et al. have two vectors, c = tanh(V h_N) and h_0 = tanh(V' c): `ChoCell`.
        Here c is the initial output itself.

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, units]
        alignment: [batch, target, source]

    Example:
        >>> cell = ContextCell(8, cell="gru", use_context=True)
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> state = keras.ops.ones((2, 8))
        >>> AttentionDecoder(cell)(inputs, value, initial_state=state).shape
        TensorShape([2, 3, 8])

    References:
        Sutskever, Vinyals, Le 2014, arXiv:1409.3215.
        Cho et al. 2014, arXiv:1406.1078.
    """

    state_type = ContextState

    def __init__(self, units, cell="gru", use_context=False, **kwargs):
        super().__init__(units, cell, **kwargs)
        self.use_context = use_context
        self.recurrence = CellStack(self, name="recurrence")

    def build(self, inputs_shape, value_shape):
        fed_depth = self.units if self.use_context else None
        self.recurrence.build(inputs_shape[-1], fed_depth)

    def prepare(self, value, mask=None):
        """A `Memory` that gives the alignments their shape; its values are not read."""
        value = zero_padding(ops.cast(value, self.compute_dtype), mask)
        return Memory(value, value, mask)

    def zero_state(self, memory):
        raise four_part_error(
            f"{type(self).__name__} got no initial_state",
            "the final state of the encoder: it is all that this decoder knows of "
            "the source",
            "None",
            "Pass initial_state=bridge(encoded), e.g. CopyBridge()(encoded)",
        )

    def initial_state(self, memory, recurrent):
        context = ()
        if self.use_context:
            context = self.recurrence.feed(self.recurrence.output_of(recurrent))
        return ContextState(recurrent, context)

    def step(self, projected_t, state, memory, noise=(), training=None):
        cells, joined = self.recurrence, projected_t
        if self.use_context:
            joined = cells.join(projected_t, state.context)
        output, recurrent = cells.step(  # Cho (2.2)
            joined, state.recurrent, noise, training
        )
        shape = ops.shape(output)[:-1] + ops.shape(memory.values)[1:2]
        nowhere = ops.zeros(shape, output.dtype)
        return Step(output, nowhere, ContextState(recurrent, state.context))

    def compute_output_shape(self, inputs_shape, value_shape):
        return (*inputs_shape[:-1], self.units)

    def alignment_shape(self, inputs_shape, value_shape):
        return (*inputs_shape[:-1], value_shape[1])

    def get_config(self):
        return {**super().get_config(), "use_context": self.use_context}
