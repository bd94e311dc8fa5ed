"""Wu et al. 2016: the bottom layer attends, every layer above reads the context."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.decoder_cell import AttentiveCell
from keras_seqattn.layers.parts.cell_stack import drop, new_recurrent_cells
from keras_seqattn.layers.parts.checks import check_residual_from
from keras_seqattn.types import Step


class GNMTState(NamedTuple):
    """The state of a `GNMTCell`."""

    recurrent: Any
    attention: Any


@keras.saving.register_keras_serializable(package="keras_seqattn")
class GNMTCell(AttentiveCell):
    """Deep residual decoder whose context comes from the bottom layer.

    Args:
        units: size of every layer.
        attention: the mechanism; the paper's is additive.
        cell: "lstm" (the paper's), or another name that `DecoderCell` takes.
        layers: number of layers, 8 in the paper; at least 2.
        residual_from: first layer, counted from 1, whose input is added to its output;
            None: no residuals.
        query: "previous": the bottom layer's output of the step before, as in the
            paper; "current": that of this step, which has seen the last token.
        readout: "state": the output is that of the top layer, x; "state_context": it is
            `[x; a_i]`, so that the softmax reads the context, too (Chen et al. 2018).
        **kwargs: of `DecoderCell`.

    Equations:
        a_i = AttentionFunction(y_{i-1}, x)  Wu (4)
        y_{i-1}: the bottom layer's previous output
        x_t^i = m_t^i + x_t^{i-1} from the third layer on  Wu (6: decoder)
        The context "is sent directly to all the remaining decoder layers": the input of
        the layers above the bottom one is `[x_t^{i-1}; a_i]`.

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, units]; "state_context": units + memory_depth
        alignment: [batch, target, source]

    Example:
        >>> cell = GNMTCell(8, attention=BahdanauAttention(8), layers=4)
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> AttentionDecoder(cell)(inputs, value).shape
        TensorShape([2, 3, 8])

    References:
        Wu et al. 2016, arXiv:1609.08144.
        Chen et al. 2018, arXiv:1804.09849.
    """

    state_type = GNMTState

    def __init__(
        self,
        units,
        attention,
        cell="lstm",
        layers=8,
        residual_from=3,
        query="previous",
        readout="state",
        **kwargs,
    ):
        super().__init__(units, attention, cell, layers=layers, **kwargs)
        owner = type(self).__name__
        check_choice(owner, "query", query, ("previous", "current"))
        check_choice(owner, "readout", readout, ("state", "state_context"))
        check_residual_from(owner, residual_from)
        if layers < 2:
            raise four_part_error(
                f"{owner} got too few layers",
                "2 or more: the bottom one attends, those above read",
                f"layers={layers}",
                "For one layer use BahdanauCell or LuongCell",
            )
        self.residual_from, self.query, self.readout = residual_from, query, readout
        self.cells = new_recurrent_cells(self, first=1)

    def build(self, inputs_shape, value_shape):
        self.build_attention(inputs_shape, value_shape)
        context_depth = self.context_depth(inputs_shape, value_shape)
        self.cells[0].build(inputs_shape[-1])
        for cell in self.cells[1:]:
            cell.build(self.units + context_depth)

    @property
    def state_size(self):
        return [cell.state_size for cell in self.cells]

    def drop(self, inputs, training=None, axis=1):
        return drop(self.cells, inputs, training, axis)

    def project(self, inputs):
        return self.cells[0].project(inputs)

    def initial_state(self, memory, recurrent):
        return GNMTState(recurrent, self.attention.initial_state(memory))

    def step(self, projected_t, state, memory, noise=(), training=None):
        bottom, *above = self.cells
        noise = noise or [()] * self.layer_count
        previous = bottom.output_of(state.recurrent[0])  # y_{i-1}
        x, past = bottom.step(projected_t, state.recurrent[0], noise[0], training)
        query = previous if self.query == "previous" else x
        context, alignment, attention = self.attention.attend(  # Wu (4)
            query, memory, state.attention, training=training
        )
        recurrent = [past]
        for i, cell in enumerate(above, start=2):
            past, masks = state.recurrent[i - 1], noise[i - 1]
            both = ops.concatenate([x, context], axis=-1)
            projected = cell.project(cell.read(both, masks, training))
            m, past = cell.step(projected, past, masks, training)
            recurrent.append(past)
            x = m + x if self._is_residual(i) else m  # Wu (6: decoder)
        if self.readout == "state_context":
            x = ops.concatenate([x, context], axis=-1)
        return Step(x, alignment, GNMTState(recurrent, attention))

    def _is_residual(self, layer):
        return self.residual_from is not None and layer >= self.residual_from

    def compute_output_shape(self, inputs_shape, value_shape):
        depth = self.units
        if self.readout == "state_context":
            depth += self.context_depth(inputs_shape, value_shape)
        return (*inputs_shape[:-1], depth)

    def get_config(self):
        return {
            **super().get_config(),
            "residual_from": self.residual_from,
            "query": self.query,
            "readout": self.readout,
        }
