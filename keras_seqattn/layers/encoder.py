"""The base of the encoders: their arguments, their masks and their shapes."""

import keras
from keras import ops, tree

from keras_seqattn.checks import check_rate
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts.checks import (
    check_implementation,
    check_mask,
    check_rank,
)
from keras_seqattn.layers.parts.recurrence import Recurrence
from keras_seqattn.layers.parts.run_recurrent import run
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Encoded


class Encoder(Composite):
    """Base of the recurrent encoders: inputs and a mask to an `Encoded`.

    A subclass builds its layers in `build`, runs them in `encode`, and computes their
    shapes in `compute_output_shape`.

    Args:
        units: size of each direction's cell.
        cell: name or Keras RNN cell object, see `Recurrence`.
        dropout: rate of the dropout on the inputs of each recurrent layer, drawn again
            at every position (not on residuals).
        recurrent_dropout: rate for h_{t-1} in the product U h_{t-1}, one mask for a
            sequence (Keras's own, for each gate). Keras then runs its general kernel:
            no cuDNN. For named cells: a cell object brings its own.
        use_variational_dropout: whether a mask of `dropout` lasts a sequence, too (Gal
            & Ghahramani 2016).
        kernel_initializer: of the input kernels of named cells. The default looks at
            the number of inputs only. Keras's default for recurrent layers also looks
            at the number of outputs, which is several times larger because all gates
            are one kernel: annotations and scores then start so small that attention
            learns nothing in the first epochs.
        recurrent_initializer: of their recurrent kernels.
        bias_initializer: of their biases.
        seed: seed of the dropout; every layer counts on from it.
        implementation: "reference": Keras's own recurrent layers; "fast": their
            weights, with all products of the inputs before the loop, and first
            derivatives only; "auto": fast where it can, and where cuDNN may not run.
        **kwargs: of `keras.layers.Layer`.
    """

    parts = ("cell",)

    def __init__(
        self,
        units,
        cell,
        dropout=0.0,
        recurrent_dropout=0.0,
        use_variational_dropout=False,
        kernel_initializer="he_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        seed=None,
        implementation="auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        self.recurrence = Recurrence(
            owner,
            units,
            cell,
            recurrent_dropout,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
        )
        check_rate(owner, "dropout", dropout)
        self.units, self.dropout, self.seed = units, dropout, seed
        self.use_variational_dropout = use_variational_dropout
        check_implementation(owner, implementation)
        self.implementation = implementation

    def new_dropout(self, count=0):
        """Dropout for the inputs of recurrent layers; `count` is added to the seed."""
        return keras.layers.Dropout(
            self.dropout,
            noise_shape=(None, 1, None) if self.use_variational_dropout else None,
            seed=self.count_on(count),
            dtype=self.dtype_policy,
        )

    def new_layer(self, name, count, backwards=False):
        """A recurrent layer; `count` is added to the seed of its dropout."""
        return self.recurrence.layer(
            backwards=backwards,
            dtype=self.dtype_policy,
            name=name,
            seed=self.count_on(count),
        )

    def options_of_inner(self, count=0):
        """Arguments for an encoder that is a part of this one."""
        return {
            "units": self.units,
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrence.recurrent_dropout,
            "use_variational_dropout": self.use_variational_dropout,
            "seed": self.count_on(count),
            "implementation": self.implementation,
            "dtype": self.dtype_policy,
            **self.recurrence.initializers,
        }

    def run(self, layer, inputs, mask, training):
        """Values and state of one of its layers: see `run_recurrent.run`."""
        owner = type(self).__name__
        return run(layer, inputs, mask, training, owner, self.implementation)

    def count_on(self, count):
        """Another seed for another layer, whose masks must differ."""
        return None if self.seed is None else self.seed + count

    def encode(self, inputs, mask, training):
        """Run the layers on inputs that are zero in the padding.

        Args:
            inputs: `[batch, source, depth]`.
            mask: `[batch, source]`, or None when everything is real.
            training: whether dropout is on.

        Returns:
            `Encoded`, with `mask=None` when everything is real.
        """
        raise four_part_error(
            f"{type(self).__name__} has no encoding",
            "a subclass of Encoder that defines encode(inputs, mask, training)",
            "none",
            "Define it; it returns Encoded(values, mask, state)",
            kind=NotImplementedError,
        )

    def call(self, inputs, mask=None, training=None):
        self._check_inputs(inputs, mask)
        values, mask, state = self.encode(zero_padding(inputs, mask), mask, training)
        if mask is None:
            mask = ops.ones(ops.shape(values)[:2], "bool")
        return Encoded(values, mask, state)

    def compute_mask(self, inputs, mask=None):
        # Only `values` carries a mask on; the order is that of the flat output.
        return Encoded(mask, None, None)

    def compute_output_spec(self, inputs, mask=None, training=None):
        self._check_inputs(inputs, mask)
        shapes = self.compute_output_shape(inputs.shape)

        def spec(shape):
            return keras.KerasTensor(shape, dtype=self.compute_dtype)

        return Encoded(
            values=spec(shapes.values),
            mask=keras.KerasTensor(shapes.mask, dtype="bool"),
            state=tree.map_shape_structure(spec, shapes.state),
        )

    def get_config(self):
        return {
            **super().get_config(),
            **self.recurrence.get_config(),
            "dropout": self.dropout,
            "use_variational_dropout": self.use_variational_dropout,
            "seed": self.seed,
            "implementation": self.implementation,
        }

    def _check_inputs(self, inputs, mask):
        owner, shape = type(self).__name__, tuple(inputs.shape)
        check_rank(owner, "sequence", shape, "[batch, source, depth]")
        if shape[1] == 0:
            raise four_part_error(
                f"{owner} got inputs without source positions",
                "[batch, source, depth] with source >= 1",
                f"shape {shape}",
                "For an empty sentence pass one padded position and a mask that is "
                "False there: values and states are then zero",
            )
        check_mask(owner, mask, "sequence", shape, "source", "mask")
