"""Sennrich et al. 2017: update, attend, and update again with the context."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.decoder_cell import AttentiveCell
from keras_seqattn.layers.parts.cell_factory import new_recurrent_cell
from keras_seqattn.layers.parts.cell_stack import drop
from keras_seqattn.types import Step


class ConditionalState(NamedTuple):
    """The state of a `ConditionalCell`."""

    recurrent: Any
    attention: Any


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ConditionalCell(AttentiveCell):
    """The conditional GRU of Nematus: two cells, one state, attention between them.

    The query has seen the last token, as in `LuongCell`, and the context enters the
    state, as in `BahdanauCell`. The output is `[s_j; c_j]`, for a readout such as
    `DeepOutputHead(..., pieces=1, activation="tanh")`.

    Args:
        units: size of the state.
        attention: the mechanism; the paper's is `BahdanauAttention(units)`.
        cell: "gru" (the paper's), or any other that `DecoderCell` takes; both cells are
            of this kind, each with its own weights.
        **kwargs: of `DecoderCell`; one layer only.

    Equations:
        s'_j = GRU_1(y_{j-1}, s_{j-1})  Sennrich (2: s'_j)
        c_j = ATT(C, s'_j)  Sennrich (2: c_j)
        s_j = GRU_2(s'_j, c_j): s'_j is its state, c_j its input  Sennrich (2: s_j)

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, units + memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> cell = ConditionalCell(8, attention=BahdanauAttention(8))
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> AttentionDecoder(cell)(inputs, value).shape
        TensorShape([2, 3, 14])

    References:
        Sennrich et al. 2017, arXiv:1703.04357.
    """

    state_type = ConditionalState

    def __init__(self, units, attention, cell="gru", **kwargs):
        super().__init__(units, attention, cell, **kwargs)
        if self.layer_count != 1:
            raise four_part_error(
                "ConditionalCell got several layers",
                "layers=1, which is both of its cells",
                f"layers={self.layer_count}",
                "For a deep decoder use BahdanauCell, LuongCell or GNMTCell",
            )
        self.cells = [
            new_recurrent_cell(
                self.cell,
                units,
                self,
                seed=None if self.seed is None else self.seed + i,
                name=f"cell_{i + 1}",
            )
            for i in range(2)
        ]

    def build(self, inputs_shape, value_shape):
        self.build_attention(inputs_shape, value_shape)
        first, second = self.cells
        first.build(inputs_shape[-1])
        second.build(self.context_depth(inputs_shape, value_shape))

    @property
    def state_size(self):
        return self.cells[0].state_size

    def drop(self, inputs, training=None, axis=1):
        return drop(self.cells, inputs, training, axis)

    def project(self, inputs):
        return self.cells[0].project(inputs)

    def initial_state(self, memory, recurrent):
        return ConditionalState(recurrent, self.attention.initial_state(memory))

    def step(self, projected_t, state, memory, noise=(), training=None):
        first, second = self.cells
        of_first, of_second = noise or ((), ())
        query, between = first.step(  # Sennrich (2: s'_j)
            projected_t, state.recurrent, of_first, training
        )
        context, alignment, attention = self.attention.attend(  # Sennrich (2: c_j)
            query, memory, state.attention, training=training
        )
        projected = second.project(second.read(context, of_second, training))
        current, recurrent = second.step(  # Sennrich (2: s_j)
            projected, between, of_second, training
        )
        output = ops.concatenate([current, context], axis=-1)
        return Step(output, alignment, ConditionalState(recurrent, attention))

    def compute_output_shape(self, inputs_shape, value_shape):
        depth = self.units + self.context_depth(inputs_shape, value_shape)
        return (*inputs_shape[:-1], depth)
