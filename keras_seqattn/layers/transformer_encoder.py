"""Vaswani et al. 2017: the encoder of a Transformer."""

import keras
from keras import ops

from keras_seqattn.layers.parts.alignment_names import SELF, layer_names, with_heads
from keras_seqattn.layers.parts.checks import check_mask
from keras_seqattn.layers.parts.transformer import Transformer, check_sequence
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Encoded


@keras.saving.register_keras_serializable(package="keras_seqattn")
class TransformerEncoder(Transformer):
    """Layers of self-attention over the source. It has no state.

    A decoder that starts from a state of the encoder needs a bridge that pools the
    annotations: `DenseBridge(inputs="mean")`.

    Args:
        units: depth of the inputs, of all layers and of the annotations.
        layers: number of layers.
        heads: of each attention.
        feed_forward_units: size between the two dense layers; None: `4 * units`.
        dropout: rate, of the inputs and of what each sublayer adds.
        attention_dropout: rate of the alignments.
        activation: between the dense layers.
        norm_first: whether each sublayer normalises its inputs, which trains without
            warm-up, too; then the outputs are normalised once more. Else its outputs
            are, as in the paper.
        positions: a `PositionEmbedding`, "sine", or None: the inputs have positions
            already.
        self_attention: a mechanism of the library, of which each layer gets a copy;
            None: `MultiHeadAttention(units, heads)`.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, source, units]`, e.g. embedded tokens.
        mask: `[batch, source]` bool, True = real. Padding may hold anything. By default
            the mask that Keras attached to `inputs`; without one, everything is real.
        return_attention_scores: whether to return the alignments of all layers too.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`, the state an empty list. With
        `return_attention_scores=True` also a dict from "self/layer 1", "self/layer 2"
        and so on to the alignments `[batch, heads, source, source]`.

    Equations:
        sublayer = LayerNorm(x + f(x))  Vaswani (3.1)
        sublayer = x + f(LayerNorm(x)), with norm_first
        f(x): self-attention; then W_2 relu(W_1 x + b_1) + b_2  Vaswani (2)

    Shapes:
        inputs: [batch, source, units]
        values: [batch, source, units]
        mask: [batch, source]

    Example:
        >>> encoder = TransformerEncoder(8, layers=2, heads=2)
        >>> encoder(keras.ops.ones((2, 5, 8))).values.shape
        TensorShape([2, 5, 8])

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
        Xiong et al. 2020, arXiv:2002.04745 (norm_first).
    """

    def build(self, inputs_shape, mask_shape=None):
        self._build_blocks(inputs_shape)

    def call(self, inputs, mask=None, return_attention_scores=False, training=None):
        self._check_inputs(inputs, mask)
        x = self._begin(zero_padding(inputs, mask), mask, training=training)
        alignments = []
        for block in self.blocks:
            x, found = block.run(
                x,
                lambda own: own._replace(mask=mask),
                training=training,
                keep_own=return_attention_scores,
            )
            alignments.append(found.own)
        values = zero_padding(self._end(x), mask)
        if mask is None:
            mask = ops.ones(ops.shape(values)[:2], "bool")
        encoded = Encoded(values, mask, [])
        if not return_attention_scores:
            return encoded
        alignments = [with_heads(zero_padding(each, mask)) for each in alignments]
        return encoded, dict(zip(self.alignment_names, alignments, strict=True))

    @property
    def alignment_names(self):
        """The names of the alignments that `return_attention_scores=True` returns."""
        return layer_names(self.layer_count, SELF)

    def compute_mask(self, inputs, mask=None):
        return Encoded(mask, None, [])

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        return Encoded(tuple(inputs_shape), tuple(inputs_shape[:2]), [])

    def compute_output_spec(
        self, inputs, mask=None, return_attention_scores=False, training=None
    ):
        self._check_inputs(inputs, mask)
        values = keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)
        mask = keras.KerasTensor(inputs.shape[:2], dtype="bool")
        encoded = Encoded(values, mask, [])
        if not return_attention_scores:
            return encoded
        batch, source, _ = inputs.shape
        heads = self.heads_of("self_attention")
        shape = (batch, heads, source, source)
        return encoded, {
            name: keras.KerasTensor(shape, dtype=self.compute_dtype)
            for name in self.alignment_names
        }

    def _check_inputs(self, inputs, mask):
        owner = type(self).__name__
        check_sequence(owner, inputs.shape, "source", self.units)
        check_mask(owner, mask, "sequence", inputs.shape, "source")
