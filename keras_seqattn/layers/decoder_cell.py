"""The bases of the decoder cells: their protocol, and an attention mechanism."""

import keras
from keras import ops, tree

from keras_seqattn.checks import check_count, check_rate
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.cell_factory import NAMES
from keras_seqattn.layers.parts.keras_cell_checks import (
    Template,
    check_initializers_of_cell,
    check_keras_cell,
    check_no_dropout,
    check_recurrent_dropout,
)
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part

PROTOCOL = (
    "build",
    "state_size",
    "state_type",
    "zero_state",
    "prepare",
    "precompute",
    "drop",
    "project",
    "initial_state",
    "step",
    "compute_output_shape",
    "alignment_shape",
)


class DecoderCell(Composite):
    """The protocol of a decoder cell; wrap one in an `AttentionDecoder` to run it.

    A cell defines these methods. Work that can be done once per sequence belongs into
    `prepare`, `drop` or `project`, not into `step`:
        build(inputs_shape, value_shape)
        state_type: the `NamedTuple` of its whole state.
        prepare(value, mask) -> Memory: once per source.
        initial_state(memory, recurrent) -> state: from its recurrent part.
        step(projected_t, state, memory, noise, training) -> Step: one target step;
            noise is a result of `drop`, or ().
        compute_output_shape(inputs_shape, value_shape): of the outputs.
        alignment_shape(inputs_shape, value_shape): of the alignments.

    and inherits, if its cells are in `recurrence`:
        state_size: sizes of the recurrent part of the state, in Keras's structure.
        zero_state(memory): the recurrent part, filled with zeros.
        precompute(memory) -> Memory: with more precomputed, for many steps.
        drop(inputs, training, axis) -> inputs, noise: dropout of the inputs, and the
            masks that last a sequence; once for all target steps.
        project(inputs) -> projected: once for all target steps, too.

    Args:
        units: size of the recurrent state.
        cell: "gru" (Keras's and cuDNN's: reset after the product), "gru_paper" (the
            paper's: reset before the product, and z is the share of s~), "lstm",
            "simple", "layer_norm_gru", "layer_norm_lstm" (their products are
            normalised, see `LayerNormLSTMCell`), or a Keras RNN cell, of which every
            decoder gets a copy.
        layers: number of recurrent layers; a Keras cell brings its own.
        kernel_initializer: for products with inputs and with what is fed back. A Keras
            cell brings its own.
        recurrent_initializer: for products with the state. A Keras cell brings its own.
        dropout: rate for the inputs of every recurrent layer: embedded tokens, what is
            fed back, the layer below (not residuals), drawn again at every step.
        recurrent_dropout: rate for h_{t-1} in the product U h_{t-1}, not for the h that
            is carried on. One mask lasts a sequence and serves all gates (Gal &
            Ghahramani 2016, "tied"; Keras draws one for each gate). For named cells.
        use_variational_dropout: whether the masks of `dropout`, too, last a sequence.
        seed: of the masks; layer i, counted from 0, uses seed + i.
        **kwargs: of `keras.layers.Layer`.
    """

    parts = ("cell",)

    def __init__(
        self,
        units,
        cell,
        layers=1,
        kernel_initializer="he_uniform",
        recurrent_initializer="orthogonal",
        dropout=0.0,
        recurrent_dropout=0.0,
        use_variational_dropout=False,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_count(owner, "units", units)
        check_count(owner, "layers", layers)
        check_rate(owner, "dropout", dropout)
        check_rate(owner, "recurrent_dropout", recurrent_dropout)
        if layers > 1 and not isinstance(cell, str):
            raise four_part_error(
                f"{owner} got a cell object for several layers",
                "layers=1 with a Keras cell",
                f"layers={layers} and {abbreviated(cell)}",
                "Name the cell, e.g. cell='lstm', or stack cells with "
                "keras.layers.StackedRNNCells",
            )
        self.units, self.layer_count = units, layers
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.dropout, self.recurrent_dropout = dropout, recurrent_dropout
        self.use_variational_dropout, self.seed = use_variational_dropout, seed
        if not isinstance(cell, str):
            check_keras_cell(owner, cell, units, NAMES)
            check_no_dropout(owner, cell)
            check_recurrent_dropout(owner, cell, recurrent_dropout)
            check_initializers_of_cell(owner, self.initializers_of_cell())
            cell = Template(cell)
        self.cell = cell

    def initializers_of_cell(self):
        """The initializers that only a named cell uses."""
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

    def precompute(self, memory):
        """Return a memory with more precomputed than by `prepare`; not for training."""
        return memory

    def drop(self, inputs, training=None, axis=1):
        """Apply dropout before the loop, to all steps at once.

        Args:
            inputs: `[batch, target, ..., embedding]`.
            training: whether dropout applies.
            axis: the axis of time in `inputs`; None: they are one step without it.

        Returns:
            The inputs for `project`, and the noise for `step`: masks that are the same
            at every step, () without dropout.
        """
        return self.recurrence.drop(inputs, training, axis)

    def project(self, inputs):
        """The products with the inputs, for one step or for all at once."""
        return self.recurrence.project(inputs)

    def __call__(self, *args, **kwargs):  # before Keras tries to build it
        raise four_part_error(
            f"{type(self).__name__} cannot be called",
            "its methods prepare, project, initial_state and step",
            "a call",
            f"Wrap it: AttentionDecoder({type(self).__name__}(...))",
        )

    def get_config(self):
        cell, serialize = self.cell, keras.initializers.serialize
        return {
            **super().get_config(),
            "units": self.units,
            "cell": cell if isinstance(cell, str) else cell.config,
            "layers": self.layer_count,
            "kernel_initializer": serialize(self.kernel_initializer),
            "recurrent_initializer": serialize(self.recurrent_initializer),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "use_variational_dropout": self.use_variational_dropout,
            "seed": self.seed,
        }


class AttentiveCell(DecoderCell):
    """Base of the cells that attend; a subclass decides when.

    Args:
        units: size of the recurrent state.
        attention: the mechanism, a new one: the cell owns it.
        cell: see `DecoderCell`, like the other arguments.
    """

    parts = ("cell", "attention")

    def __init__(self, units, attention, cell, **kwargs):
        checks.check_attention(type(self).__name__, attention)
        kwargs.setdefault("dtype", attention.dtype_policy)
        super().__init__(units, cell, **kwargs)
        self.attention = attention

    def build_attention(self, inputs_shape, value_shape):
        """Build the mechanism for queries of the size `units`."""
        build_part(self, self.attention, self._query_shape(inputs_shape), value_shape)

    def context_depth(self, inputs_shape, value_shape):
        """The last size of the contexts."""
        shapes = self._query_shape(inputs_shape), value_shape
        return self.attention.compute_output_shape(*shapes)[-1]

    def alignment_shape(self, inputs_shape, value_shape):
        shapes = self._query_shape(inputs_shape), value_shape
        return self.attention.alignment_shape(*shapes)

    def _query_shape(self, inputs_shape):
        return (*inputs_shape[:-1], self.units)

    def prepare(self, value, mask=None):
        """`Memory` of a source `[batch, source, memory_depth]`."""
        return self.attention.prepare(value, mask)

    def get_config(self):
        return {**super().get_config(), "attention": serialize_part(self.attention)}
