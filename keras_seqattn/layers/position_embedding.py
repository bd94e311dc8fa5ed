"""Vaswani et al. 2017: where a token stands, added to what it is."""

import math

import keras
from keras import ops

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts.checks import check_rank
from keras_seqattn.ops.mask import row_positions, zero_padding

KINDS = ("sine", "learned")


@keras.saving.register_keras_serializable(package="keras_seqattn")
class PositionEmbedding(Composite):
    """Adds a vector for the position of each token to the embedded tokens.

    Positions are those of real tokens: padding on the left moves no token.

    Args:
        kind: "sine": sines and cosines of different wavelengths, for any length;
            "learned": a table of weights.
        max_positions: size of the table of a learned embedding.
        use_scale: whether to multiply the inputs by `sqrt(depth)` first, as Vaswani et
            al. do with embeddings that start small because a head shares them.
        embeddings_initializer: of the table.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, time, depth]`, embedded tokens.
        mask: `[batch, time]`, True = real. By default the mask that Keras attached to
            `inputs`; without one, everything is real.
        positions: int `[batch, time]` or `[batch]`, from 0 on, for tokens that do not
            begin at 0 or that stand alone. None: counted from the mask.

    Returns:
        `[batch, time, depth]`, with the mask of the inputs, zero in the padding.

    Equations:
        P[p, 2 i] = sin(p / 10000^(2 i / depth))  Vaswani (3.5: sine)
        P[p, 2 i + 1] = cos(p / 10000^(2 i / depth))  Vaswani (3.5: cosine)

    Shapes:
        inputs: [batch, time, depth]
        returned: [batch, time, depth]

    Example:
        >>> layer = PositionEmbedding()
        >>> layer(keras.ops.zeros((1, 2, 4)))[0, 0].numpy().tolist()
        [0.0, 1.0, 0.0, 1.0]

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
        Gehring et al. 2017, arXiv:1705.03122 ("learned").
    """

    def __init__(
        self,
        kind="sine",
        max_positions=None,
        use_scale=False,
        embeddings_initializer="random_normal",
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_choice(owner, "kind", kind, KINDS)
        if (kind == "learned") != (max_positions is not None):
            raise four_part_error(
                f"{owner} got an unusable max_positions",
                "a number for kind='learned', None for kind='sine'",
                f"kind={kind!r} with max_positions={max_positions}",
                "Pass PositionEmbedding('learned', max_positions=512), or drop it",
            )
        if max_positions is not None:
            check_count(owner, "max_positions", max_positions)
        self.kind, self.max_positions, self.use_scale = kind, max_positions, use_scale
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)

    def build(self, inputs_shape):
        if self.kind == "learned":
            self.embeddings = self.add_weight(
                name="embeddings",
                shape=(self.max_positions, inputs_shape[-1]),
                initializer=self.embeddings_initializer,
            )
        elif inputs_shape[-1] % 2:
            raise four_part_error(
                f"{type(self).__name__} got inputs of odd depth",
                "an even depth: half sines, half cosines",
                f"shape {tuple(inputs_shape)}",
                "Use an embedding of even size, or kind='learned'",
            )

    def call(self, inputs, mask=None, positions=None):
        scaled = inputs * inputs.shape[-1] ** 0.5 if self.use_scale else inputs
        if positions is None:
            self._check_time(inputs.shape)
            rows = self._rows(ops.arange(ops.shape(inputs)[1]), inputs.shape[-1])
            if mask is not None:
                real = ops.maximum(row_positions(mask, inputs) - 1, 0)
                rows = ops.take(rows, real, axis=0)
        else:
            rows = self._rows(positions, inputs.shape[-1])
        return zero_padding(scaled + ops.cast(rows, scaled.dtype), mask)

    def _rows(self, positions, depth):
        """The vectors of some positions, `[..., depth]`."""
        if self.kind == "learned":
            return ops.take(self.embeddings, positions, axis=0)
        i = ops.arange(depth // 2, dtype="float32")
        wavelength = ops.exp(i * (2 * math.log(10_000) / depth))
        angles = ops.cast(positions, "float32")[..., None] / wavelength
        pairs = [
            ops.sin(angles),  # Vaswani (3.5: sine)
            ops.cos(angles),  # Vaswani (3.5: cosine)
        ]
        return ops.reshape(ops.stack(pairs, axis=-1), (*ops.shape(positions), depth))

    def _check_time(self, shape):
        check_rank(type(self).__name__, "inputs", shape, "[batch, time, depth]")
        if self.max_positions is not None and (shape[1] or 0) > self.max_positions:
            raise four_part_error(
                f"{type(self).__name__} got more positions than it has learned",
                f"at most max_positions={self.max_positions}",
                f"{shape[1]} positions",
                "Cut the texts, or use a larger table or kind='sine'",
            )

    def compute_mask(self, inputs, mask=None):
        return mask

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def get_config(self):
        return {
            **super().get_config(),
            "kind": self.kind,
            "max_positions": self.max_positions,
            "use_scale": self.use_scale,
            "embeddings_initializer": keras.initializers.serialize(
                self.embeddings_initializer
            ),
        }
