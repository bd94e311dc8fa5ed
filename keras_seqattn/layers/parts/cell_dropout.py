"""The dropout of one recurrent cell: of what it reads, and of its own past."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.layers.parts.base import Composite
from keras_seqattn.layers.parts.training_argument import given
from keras_seqattn.ops.products import drawn


class CellNoise(NamedTuple):
    """Masks that last a sequence, `[batch, ..., depth]`; () where there is none."""

    inputs: Any = ()
    fed: Any = ()
    recurrent: Any = ()


class CellDropout(Composite):
    """Dropout of the inputs and of the state of one cell, whichever the owner asks for.

    Masks of the state last a sequence, and those of the inputs do if they are
    variational: `noise` draws them, before the loop. Else `read` draws at every step.

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
            fed_depth: that of what is fed back, or None.
            units: that of its state.
            axis: that of time in `like`; None: it is one step without that axis.
            training: whether dropout applies.
        """
        if self.factors is None:
            return ()

        def mask(rate, depth):
            if not rate or depth is None:
                return ()
            return self.factors(
                like, rate=rate, depth=depth, without=axis, **given(training)
            )

        of_inputs = self.rate if self.is_variational else 0.0
        return CellNoise(
            inputs=mask(of_inputs, input_depth),
            fed=mask(of_inputs, fed_depth),
            recurrent=mask(self.recurrent_rate, units),
        )

    def read(self, inputs, mask, training=None):
        """What the cell sees of its inputs, for one step or for all at once.

        Args:
            inputs: `[batch, ..., depth]`.
            mask: of `CellNoise`; broadcasts to the inputs.
            training: whether dropout applies.
        """
        if not self.rate:
            return inputs
        if not self.is_variational:
            depth = inputs.shape[-1]
            mask = self.factors(inputs, rate=self.rate, depth=depth, **given(training))
        return masked(inputs, mask)


def masked(x, mask):
    """`x` times the mask, if there is one."""
    return x if isinstance(mask, tuple) else x * mask


class DroppedCell(Composite):
    """What named and foreign cells share: the dropout of their factors.

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
        """What `project` is given of the inputs, for one step or for all at once.

        Args:
            inputs: `[batch, ..., depth]`.
            noise: what the method of this name returned; (): nothing lasts.
            training: whether dropout applies.
            axis: that of time in `inputs`, along which such a mask stays the same;
                None: they are one step.
        """
        mask = CellNoise(*noise).inputs
        if axis is not None and not isinstance(mask, tuple):
            mask = ops.expand_dims(mask, axis)
        return self.dropout.read(inputs, mask, training)

    def read_fed(self, fed, noise=None, training=None):
        """What `feed` multiplies of what is fed; without `noise` all of it."""
        if noise is None:
            return fed
        return self.dropout.read(fed, CellNoise(*noise).fed, training)


class _Factors(keras.layers.Layer):
    """What dropout multiplies by, 0 or 1 / (1 - rate); () where it does not apply.

    A layer of its own, so that Keras tells it whether it trains, as it does for
    `Dropout`, which cannot draw for another shape than that of its input.
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
