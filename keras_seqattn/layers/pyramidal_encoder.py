"""The listener of Listen, Attend and Spell."""

import functools

import keras
from keras import ops

from keras_seqattn.checks import check_count
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class PyramidalEncoder(Encoder):
    """Bidirectional layers, each reading pairs of the one below: fewer, longer steps.

    For long sources such as speech: attention then has `factor ** layers` times fewer
    positions to look at. As in the paper, `layers` pyramidal layers stand on one plain
    bidirectional layer, so that there are `layers + 1` of them.

    A length that is no multiple of `factor` is filled up with zeros, and a group is
    real if any of its members is, so that padding on the right changes nothing.

    Args:
        units: size of each direction's cell.
        cell: a name or a Keras RNN cell object, see `BiEncoder`.
        layers: number of pyramidal layers.
        factor: how many steps of the layer below make one step; 2 in the paper.
        **kwargs: of `Encoder`: dropout, seed, initializers.

    Call arguments:
        inputs: `[batch, source, depth]`, e.g. filter banks.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`, as `BiEncoder` does, with `reduced` positions:
        `source` divided by `factor` and rounded up, once for each pyramidal layer.

    Equations:
        h_i^j = BLSTM(h_{i-1}^j, h_i^{j-1}), the bottom layer  Chan (4)
        h_i^j = pBLSTM(h_{i-1}^j, [h_{2i}^{j-1}, h_{2i+1}^{j-1}])  Chan (5)
        j counts layers, i steps.

    Shapes:
        inputs: [batch, source, depth]
        values: [batch, reduced, 2 * units]
        mask: [batch, reduced]
        state: per layer, [batch, 2 * units] or a list of these

    Example:
        >>> encoded = PyramidalEncoder(8)(keras.ops.ones((2, 21, 4)))
        >>> encoded.values.shape, len(encoded.state)
        (TensorShape([2, 3, 16]), 4)

    References:
        Chan, Jaitly, Le, Vinyals 2015, arXiv:1508.01211.
    """

    def __init__(
        self,
        units,
        cell="lstm",
        layers=3,
        factor=2,
        **kwargs,
    ):
        super().__init__(units, cell, **kwargs)
        check_count("PyramidalEncoder", "layers", layers)
        check_count("PyramidalEncoder", "factor", factor)
        self.layer_count, self.factor = layers, factor
        self.bottom, *self.pyramid = [
            BiEncoder(cell=cell, name=f"level_{i}", **self.options_of_inner(3 * i))
            for i in range(layers + 1)  # each level uses three seeds
        ]

    def build(self, inputs_shape, mask_shape=None):
        self.bottom.build(inputs_shape)
        for level in self.pyramid:
            level.build((inputs_shape[0], None, self.factor * 2 * self.units))

    def encode(self, inputs, mask, training):
        values, _, states = self.bottom(  # Chan (4)
            inputs, mask=mask, training=training
        )
        for level in self.pyramid:
            mask = _group_mask(mask, self.factor)
            read = _group_values(values, self.factor)
            values, _, state = level(  # Chan (5)
                read, mask=mask, training=training
            )
            states = [*states, *state]
        return Encoded(values, mask, states)

    def compute_mask(self, inputs, mask=None):
        for _ in self.pyramid:
            mask = _group_mask(mask, self.factor)
        return Encoded(mask, None, None)

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        batch, source, _ = inputs_shape
        for _ in self.pyramid:
            source = None if source is None else -(-source // self.factor)  # round up
        levels = [self.bottom, *self.pyramid]
        states = [level.compute_output_shape(inputs_shape).state for level in levels]
        return Encoded(
            values=(batch, source, 2 * self.units),
            mask=(batch, source),
            state=[state for (state,) in states],
        )

    def get_config(self):
        return {
            **super().get_config(),
            "layers": self.layer_count,
            "factor": self.factor,
        }


def _members(x, factor):
    """The first, second, ... members of all groups, the last group filled with zeros.

    `[batch, source, ...]` gives `factor` tensors `[batch, reduced, ...]`.
    """
    fill = factor - 1
    padding = [[0, 0], [0, fill]] + [[0, 0]] * (len(x.shape) - 2)
    x = ops.pad(x, padding)
    return [x[:, k : (k - fill) or None : factor] for k in range(factor)]


def _group_values(values, factor):
    return ops.concatenate(_members(values, factor), axis=-1)


def _group_mask(mask, factor):
    if mask is None:
        return None
    return functools.reduce(ops.logical_or, _members(mask, factor))
