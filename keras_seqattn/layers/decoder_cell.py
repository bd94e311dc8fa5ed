"""What the decoder cells share: their arguments, not their order of lines."""

import keras
from keras import ops, tree

from keras_seqattn.layers import checks
from keras_seqattn.layers.base import Composite, deserialize_part, serialize_part
from keras_seqattn.layers.keras_cell import check_initializers_of_cell


class DecoderCell(Composite):
    """The protocol of a decoder cell; wrap one in an `AttentionDecoder` to run it.

    Methods (nothing is done per step which can be done per sequence):
        prepare(value, mask) -> Memory: once per source.
        project(inputs) -> projected: once for all target steps.
        initial_state(memory, recurrent) -> state: recurrent part given, rest zero.
        step(projected_t, state, memory, training) -> Step: what depends on the state.

    Args:
        units: size of the recurrent state.
        cell: "gru" (Keras's and cuDNN's: reset after the product), "gru_paper" (reset
            before it), "lstm", "simple", or a Keras RNN cell.
        layers: number of recurrent layers; a Keras cell brings its own.
        kernel_initializer: for products with inputs and with what is fed back. A Keras
            cell brings its own.
        recurrent_initializer: for products with the state. A Keras cell brings its own.
        **kwargs: of `keras.layers.Layer`.
    """

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
        self.units, self.cell, self.layers = units, cell, layers
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        if not isinstance(cell, str):
            check_initializers_of_cell(owner, self.initializers_of_cell())

    def initializers_of_cell(self):
        """Those that nothing but a named cell uses."""
        return {
            "kernel_initializer": self.kernel_initializer,
            "recurrent_initializer": self.recurrent_initializer,
        }

    def zero_state(self, memory):
        """The recurrent part of the state, all zeros, in Keras's structure."""
        batch = ops.shape(memory.values)[0]
        return tree.map_structure(
            lambda size: ops.zeros((batch, size), self.compute_dtype), self.state_size
        )

    def __call__(self, *args, **kwargs):  # before Keras would try to build it
        raise ValueError(
            f"{type(self).__name__} cannot be called. Expected its methods prepare, "
            "project, initial_state and step; received a call. Wrap it: "
            f"AttentionDecoder({type(self).__name__}(...))."
        )

    def get_config(self):
        cell, serialize = self.cell, keras.initializers.serialize
        if not isinstance(cell, str):
            cell = serialize_part(cell)
        return {
            **super().get_config(),
            "units": self.units,
            "cell": cell,
            "layers": self.layers,
            "kernel_initializer": serialize(self.kernel_initializer),
            "recurrent_initializer": serialize(self.recurrent_initializer),
        }

    @classmethod
    def from_config(cls, config):
        nested = {
            name: deserialize_part(config[name])
            for name in ("cell", "attention")
            if isinstance(config.get(name), dict)
        }
        return cls(**{**config, **nested})
