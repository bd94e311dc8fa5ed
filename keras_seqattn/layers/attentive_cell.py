"""The base of the decoder cells that attend: an attention mechanism and its shapes."""

from keras_seqattn.layers.decoder_cell import DecoderCell
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part


class AttentiveCell(DecoderCell):
    """Base of the cells that attend; a subclass decides when.

    Args:
        units: size of the recurrent state.
        attention: the mechanism, a new one: the cell owns it.
        cell: see `DecoderCell`, as the other arguments.
        **kwargs: of `DecoderCell`.
    """

    parts = ("cell", "attention")

    def __init__(self, units, attention, cell, **kwargs):
        checks.check_attention(type(self).__name__, attention)
        kwargs.setdefault("dtype", attention.dtype_policy)
        super().__init__(units, cell, **kwargs)
        self.attention = attention

    def build_attention(self, inputs_shape, value_shape):
        """Build the mechanism."""
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
