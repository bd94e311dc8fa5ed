"""An encoder with layer normalisation and dropout of its annotations."""

import keras

from keras_seqattn.checks import check_rate
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class NormalizedEncoder(Composite):
    """Layer normalisation and dropout of the annotations of another encoder.

    Small data needs it: the text-only systems of LIUM-CVC drop half of every
    annotation. The state is that of the encoder inside; a bridge that reads the mean of
    the annotations (`DenseBridge(inputs="mean")`) reads the normalised, dropped ones.

    Args:
        encoder: an `Encoder`, e.g. `BiEncoder`, a new one: this layer owns it.
        dropout: rate at which entries of the annotations are dropped, drawn again at
            every position.
        epsilon: added to the variance.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, source, depth]`, e.g. embedded tokens.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`, see the encoder inside.

    Equations:
        d[b, j] = h[b, j] - mean{h[b, j]}
        v[b, j] = gamma * d[b, j] / sqrt(mean{d[b, j]^2} + epsilon) + beta

    Shapes:
        inputs: [batch, source, depth]
        values: [batch, source, memory_depth]
        mask: [batch, source]

    Example:
        >>> encoder = NormalizedEncoder(BiEncoder(8, cell="gru"), dropout=0.5)
        >>> encoder(keras.ops.ones((2, 5, 4))).values.shape
        TensorShape([2, 5, 16])

    References:
        Caglayan et al. 2017, arXiv:1707.04481.
        Ba, Kiros, Hinton 2016, arXiv:1607.06450.
    """

    parts = ("encoder",)

    def __init__(self, encoder, dropout=0.0, epsilon=1e-5, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(encoder, (Encoder, NormalizedEncoder)):
            raise four_part_error(
                "NormalizedEncoder got an unusable encoder",
                "an Encoder",
                abbreviated(encoder),
                "Pass e.g. BiEncoder(units)",
            )
        check_rate("NormalizedEncoder", "dropout", dropout)
        self.encoder, self.dropout = encoder, dropout
        self.epsilon, self.seed = epsilon, seed
        self.norm = keras.layers.LayerNormalization(
            epsilon=epsilon, dtype=self.dtype_policy, name="norm"
        )
        self.drop = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)

    def build(self, inputs_shape, mask_shape=None):
        build_part(self, self.encoder, inputs_shape)
        self.norm.build(self.encoder.compute_output_shape(inputs_shape).values)

    def call(self, inputs, mask=None, training=None):
        encoded = Encoded(*self.encoder(inputs, mask=mask, training=training))
        values = self.drop(self.norm(encoded.values), training=training)
        return encoded._replace(values=zero_padding(values, encoded.mask))

    def compute_mask(self, inputs, mask=None):
        return self.encoder.compute_mask(inputs, mask)

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        return self.encoder.compute_output_shape(inputs_shape)

    def compute_output_spec(self, inputs, mask=None, training=None):
        return self.encoder.compute_output_spec(inputs, mask)

    def get_config(self):
        return {
            **super().get_config(),
            "encoder": serialize_part(self.encoder),
            "dropout": self.dropout,
            "epsilon": self.epsilon,
            "seed": self.seed,
        }
