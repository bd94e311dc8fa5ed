"""What the decoder cells share: their arguments, not their order of lines."""

import keras
from keras import ops, tree

from keras_seqattn.layers import checks
from keras_seqattn.layers.base import Composite
from keras_seqattn.layers.keras_cell import (
    Template,
    check_initializers_of_cell,
    check_keras_cell,
    check_no_dropout,
)
from keras_seqattn.layers.split_cell import GATES

PROTOCOL = (
    "build",
    "state_size",
    "state_type",
    "zero_state",
    "prepare",
    "project",
    "initial_state",
    "step",
    "compute_output_shape",
    "alignment_shape",
)


class DecoderCell(Composite):
    """The protocol of a decoder cell; wrap one in an `AttentionDecoder` to run it.

    A cell defines (nothing is done per step which can be done per sequence):
        build(inputs_shape, value_shape)
        state_type: the `NamedTuple` of its whole state.
        prepare(value, mask) -> Memory: once per source.
        project(inputs) -> projected: once for all target steps.
        initial_state(memory, recurrent) -> state: recurrent part given, rest zero.
        step(projected_t, state, memory, training) -> Step: what depends on the state.
        compute_output_shape(inputs_shape, value_shape): of the outputs.
        alignment_shape(inputs_shape, value_shape): of the alignments.

    and has from here, as long as its cells are in `recurrence`:
        state_size: sizes of the recurrent part of the state, in Keras's structure.
        zero_state(memory): that part, all zeros.

    Args:
        units: size of the recurrent state.
        cell: "gru" (Keras's and cuDNN's: reset after the product), "gru_paper" (reset
            before it; its z is the share of the new state, in Keras of the old one),
            "lstm", "simple", or a Keras RNN cell, of which every decoder gets a copy.
        layers: number of recurrent layers; a Keras cell brings its own.
        kernel_initializer: for products with inputs and with what is fed back. A Keras
            cell brings its own.
        recurrent_initializer: for products with the state. A Keras cell brings its own.
        **kwargs: of `keras.layers.Layer`.
    """

    parts = ("cell",)

    def __init__(
        self,
        units,
        cell,
        layers=1,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        checks.check_size(owner, "units", units)
        checks.check_size(owner, "layers", layers)
        if layers > 1 and not isinstance(cell, str):
            raise ValueError(
                f"{owner} got a cell object for several layers. Expected layers=1 with "
                f"a Keras cell, received layers={layers} and {cell!r}. Name the cell, "
                "e.g. cell='lstm', or stack cells with keras.layers.StackedRNNCells."
            )
        self.units, self.layers = units, layers
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        if not isinstance(cell, str):
            check_keras_cell(owner, cell, units, GATES)
            check_no_dropout(owner, cell)
            check_initializers_of_cell(owner, self.initializers_of_cell())
            cell = Template(cell)
        self.cell = cell

    def initializers_of_cell(self):
        """Those that nothing but a named cell uses."""
        return {
            "kernel_initializer": self.kernel_initializer,
            "recurrent_initializer": self.recurrent_initializer,
        }

    @property
    def state_size(self):
        return self.recurrence.state_size

    def zero_state(self, memory):
        """The recurrent part of the state, all zeros, in Keras's structure."""
        batch = ops.shape(memory.values)[0]
        return tree.map_structure(
            lambda size: ops.zeros((batch, size), self.compute_dtype), self.state_size
        )

    def project(self, inputs):
        """The products with the inputs, for one step or for all at once."""
        return self.recurrence.project(inputs)

    def __call__(self, *args, **kwargs):  # before Keras would try to build it
        raise ValueError(
            f"{type(self).__name__} cannot be called. Expected its methods prepare, "
            "project, initial_state and step; received a call. Wrap it: "
            f"AttentionDecoder({type(self).__name__}(...))."
        )

    def get_config(self):
        cell, serialize = self.cell, keras.initializers.serialize
        return {
            **super().get_config(),
            "units": self.units,
            "cell": cell if isinstance(cell, str) else cell.config,
            "layers": self.layers,
            "kernel_initializer": serialize(self.kernel_initializer),
            "recurrent_initializer": serialize(self.recurrent_initializer),
        }
