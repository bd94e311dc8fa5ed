"""Dropout in a loop over time: of any tensor, and of the inputs and state of a cell."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.layers.composite import Composite, training_kwargs
from keras_seqattn.ops.loop_ops import drawn, in_loop


class LoopDropout(keras.layers.Dropout):
    """`keras.layers.Dropout` whose mask a fast loop can keep."""

    def call(self, inputs, training=False):
        if not (training and self.rate and in_loop()):
            return super().call(inputs, training=training)
        return inputs * drawn(lambda: self._mask(inputs), inputs)

    def _mask(self, like):
        return super().call(ops.ones_like(like), training=True)


class CellNoise(NamedTuple):
    """Masks that last a sequence, `[batch, ..., depth]`; () stands for no mask."""

    inputs: Any = ()
    fed: Any = ()
    recurrent: Any = ()


class CellDropout(Composite):
    """Dropout of the inputs and of the state of one cell, with the rates of its owner.

    Masks of the state last a sequence; masks of the inputs do if they are variational.
    `noise` draws these before the loop. Other masks are drawn by `read` at every step.

    Args:
        owner: the layer with the arguments `dropout`, `recurrent_dropout`,
            `use_variational_dropout`.
        seed: of the masks of this cell.
    """

    def __init__(self, owner, seed=None, **kwargs):
        super().__init__(dtype=owner.dtype_policy, **kwargs)
        self.rate, self.recurrent_rate = owner.dropout, owner.recurrent_dropout
        self.is_variational = owner.use_variational_dropout
        self.factors = None
        if self.rate or self.recurrent_rate:
            self.factors = _Factors(seed, dtype=owner.dtype_policy, name="factors")
        self.built = True

    def noise(self, like, input_depth, fed_depth, units, axis, training=None):
        """`CellNoise` for a sequence of inputs like this one.

        Args:
            like: `[batch, target, ..., depth]`.
            input_depth: last size of the cell's inputs.
            fed_depth: last size of what is fed back, or None.
            units: last size of its state.
            axis: the axis of time in `like`; None: it is one step without that axis.
            training: whether dropout applies.
        """
        if self.factors is None:
            return ()

        def mask(rate, depth):
            if not rate or depth is None:
                return ()
            return self.factors(
                like, rate=rate, depth=depth, without=axis, **training_kwargs(training)
            )

        of_inputs = self.rate if self.is_variational else 0.0
        return CellNoise(
            inputs=mask(of_inputs, input_depth),
            fed=mask(of_inputs, fed_depth),
            recurrent=mask(self.recurrent_rate, units),
        )

    def read(self, inputs, mask, training=None):
        """The inputs after dropout, for one step or for all at once.

        Args:
            inputs: `[batch, ..., depth]`.
            mask: of `CellNoise`; broadcasts to the inputs.
            training: whether dropout applies.
        """
        if not self.rate:
            return inputs
        if not self.is_variational:
            depth = inputs.shape[-1]
            mask = self.factors(
                inputs, rate=self.rate, depth=depth, **training_kwargs(training)
            )
        return masked(inputs, mask)


def masked(x, mask):
    """`x` times the mask, or `x` if there is no mask."""
    return x if isinstance(mask, tuple) else x * mask


class DroppedCell(Composite):
    """The base of named cells and Keras cells: the dropout of their inputs.

    Args:
        units: size of the output.
        dropout: `CellDropout` of this cell.
        **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, units, dropout, **kwargs):
        super().__init__(**kwargs)
        self.units, self.dropout = units, dropout
        self.input_depth = self.fed_depth = None  # known to `build`

    def build(self, input_depth, fed_depth=None):
        self.input_depth, self.fed_depth = input_depth, fed_depth

    def noise(self, like, training=None, axis=1):
        """Masks that last a sequence of inputs `like` these, or () without dropout."""
        depths = self.input_depth, self.fed_depth, self.units
        return self.dropout.noise(like, *depths, axis, training)

    def read(self, inputs, noise=(), training=None, axis=None):
        """The inputs of `project` after dropout, for one step or for all at once.

        Args:
            inputs: `[batch, ..., depth]`.
            noise: a result of the method `noise`; (): no mask lasts a sequence.
            training: whether dropout applies.
            axis: the axis of time in `inputs`, along which a mask stays the same; None:
                they are one step.
        """
        mask = CellNoise(*noise).inputs
        if axis is not None and not isinstance(mask, tuple):
            mask = ops.expand_dims(mask, axis)
        return self.dropout.read(inputs, mask, training)

    def read_fed(self, fed, noise=None, training=None):
        """The input of `feed` after dropout; without `noise` there is no dropout."""
        if noise is None:
            return fed
        return self.dropout.read(fed, CellNoise(*noise).fed, training)


class _Factors(keras.layers.Layer):
    """The factors of dropout, 0 or 1 / (1 - rate); () if it does not apply.

    It is a layer so that Keras fills in `training`, as for `Dropout`. `Dropout` itself
    draws only masks of the shape of its input.
    """

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = True

    def call(self, like, rate, depth, without=None, training=False):
        """Factors with the axes of `like`, but for the last one and for `without`."""
        if not training:
            return ()
        sizes = [n for i, n in enumerate(ops.shape(like)[:-1]) if i != without]
        ones = ops.ones((*sizes, depth), like.dtype)
        return drawn(
            lambda: keras.random.dropout(ones, rate, seed=self.seed_generator), like
        )
