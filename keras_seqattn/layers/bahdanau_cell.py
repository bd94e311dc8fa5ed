"""Bahdanau et al. 2015: attend, then update."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.checks import check_choice
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.decoder_cell import AttentiveCell
from keras_seqattn.layers.parts.cell_stack import CellStack
from keras_seqattn.ops.align import context_vector
from keras_seqattn.types import Step


class BahdanauState(NamedTuple):
    """The state of a `BahdanauCell`."""

    recurrent: Any
    attention: Any


@keras.saving.register_keras_serializable(package="keras_seqattn")
class BahdanauCell(AttentiveCell):
    """Attends with the previous state, then updates: s_{i-1} -> a_i -> c_i -> s_i.

    The output is `[s_i; c_i]`, for a readout.

    Args:
        units: size n of the state.
        attention: the mechanism, e.g. `BahdanauAttention(units)`.
        cell: "gru", "gru_paper" (the paper's), or another that `DecoderCell` takes.
        layers: recurrent layers; the query is the state of the top one.
        readout: "state": the output is `[s_i; c_i]`; "previous_state": it is
            `[s_{i-1}; c_i]`, as in the paper's deep output (A.2.2).
        use_inputs: whether the cell reads the target words y_{i-1}. If not, it reads
            its own previous output s_{i-1} in their place, as some lectures begin; the
            inputs give only the number of steps.
        **kwargs: of `DecoderCell`.

    Equations:
        c_i = sum{a_ij * h_j : j}  Bahdanau (5)
        s_i = f(s_{i-1}, y_{i-1}, c_i)  Bahdanau (3.1)
        y_{i-1} = s_{i-1}, if `use_inputs=False`  Bahdanau (3.1: without words)

    With `cell="gru_paper"`, f is `ops.cell.gru_paper_step`, which has the equations of
    z_i, r_i, s~_i and s_i.

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, units + memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> cell = BahdanauCell(8, attention=BahdanauAttention(8), cell="gru")
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> AttentionDecoder(cell)(inputs, value).shape
        TensorShape([2, 3, 14])

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
    """

    state_type = BahdanauState

    def __init__(
        self,
        units,
        attention,
        cell="gru",
        readout="state",
        use_inputs=True,
        **kwargs,
    ):
        super().__init__(units, attention, cell, **kwargs)
        choices = ("state", "previous_state")
        check_choice(type(self).__name__, "readout", readout, choices)
        self.readout, self.use_inputs = readout, use_inputs
        self.recurrence = CellStack(self, name="recurrence")

    def build(self, inputs_shape, value_shape):
        self.build_attention(inputs_shape, value_shape)
        fed_depth = self.context_depth(inputs_shape, value_shape)
        input_depth = inputs_shape[-1] if self.use_inputs else self.units
        self.recurrence.build(input_depth, fed_depth)

    def initial_state(self, memory, recurrent):
        return BahdanauState(recurrent, self.attention.initial_state(memory))

    def precompute(self, memory):
        """Multiply all values by F = [C_z; C_r; C] once, before the steps.

        This needs contexts that are weighted sums of the values.
        """
        if not _sums_values(self.attention):
            return memory
        fed = self.recurrence.precompute(memory.values)
        if isinstance(fed, tuple):
            return memory
        both = ops.concatenate([memory.values, fed], axis=-1)
        return memory._replace(values_and_feed=both)

    def drop(self, inputs, training=None, axis=1):
        if self.use_inputs:
            return super().drop(inputs, training, axis)
        return inputs, self.recurrence.noise(inputs, training, axis)

    def project(self, inputs):
        return super().project(inputs) if self.use_inputs else inputs

    def step(self, projected_t, state, memory, noise=(), training=None):
        cells = self.recurrence
        previous = cells.output_of(state.recurrent)  # s_{i-1}
        if not self.use_inputs:
            read = cells.read(previous, noise, training)
            projected_t = cells.project(read)  # Bahdanau (3.1: without words)
        context, alignment, attention = self.attention.attend(
            previous, memory, state.attention, training=training
        )
        if isinstance(memory.values_and_feed, tuple):
            fed = cells.feed(context, noise, training)
        else:
            context, fed = self._read_precomputed(alignment, memory)
        current, new_recurrent = cells.step(  # Bahdanau (3.1)
            cells.join(projected_t, fed), state.recurrent, noise, training
        )
        read_state = current if self.readout == "state" else previous
        output = ops.concatenate([read_state, context], axis=-1)
        return Step(output, alignment, BahdanauState(new_recurrent, attention))

    def _read_precomputed(self, alignment, memory):
        """The context c and F c, after `precompute`: `sum{a_j [h_j; F h_j] : j}`."""
        both = context_vector(alignment, memory.values_and_feed)
        depth = memory.values.shape[-1]
        return both[..., :depth], self.recurrence.feed_of_product(both[..., depth:])

    def compute_output_shape(self, inputs_shape, value_shape):
        depth = self.units + self.context_depth(inputs_shape, value_shape)
        return (*inputs_shape[:-1], depth)

    def get_config(self):
        return {
            **super().get_config(),
            "readout": self.readout,
            "use_inputs": self.use_inputs,
        }


def _sums_values(attention):
    """Whether a context is the sum of the values, weighted by the alignment.

    It is, unless a subclass defines its own `attend` or `read`.
    """
    own = type(attention)
    if isinstance(attention, ComposedAttention):
        aligns = own.attend is ComposedAttention.attend
        return aligns and _sums_values(attention.attention)
    if not isinstance(attention, Attention):
        return False
    return own.attend is Attention.attend and own.read is Attention.read
