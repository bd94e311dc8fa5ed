"""The last product of a head, `hidden @ kernel + bias`, and its factors."""

import keras
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.types import Columns, Readout


class LastProduct:
    """The product with the vocabulary at the end of a head.

    A loss reads its factors. A search gathers columns of the kernel once for many
    steps, for all tokens or for those of a shortlist, and multiplies by them.

    Not a layer: it owns no weights.

    Args:
        layer: the `Dense` or the `ReversibleEmbedding` that multiplies.
        bias: its weight `[vocabulary]`, or None.
        dtype: of the logits.
    """

    def __init__(self, layer, bias, dtype):
        self.layer, self.bias, self.dtype = layer, bias, dtype

    def readout(self, hidden, training):
        """Return the `Readout` for the loss; None if the product is not a plain one.

        Args:
            hidden: `[batch, ..., depth]`.
            training: whether gradients will be computed.
        """
        if not self._is_plain:
            return None
        kernel, is_transposed = self._kernel
        if self._is_embedding:
            dtype = keras.backend.result_type(hidden.dtype, kernel.dtype)
            hidden = ops.cast(hidden, dtype)  # as the embedding multiplies
        return Readout(hidden, kernel, self.bias, is_transposed, bool(training))

    def precompute(self):
        """Return the `Columns` of all tokens if they make many steps faster, else None.

        An embedding has a row for each token. A product of few rows with its transpose
        takes up to four times as long, so it is transposed once.
        """
        is_tied = self._is_plain and self._kernel[1]
        return self._columns() if is_tied else None

    def columns(self, ids):
        """Return the `Columns` of some tokens.

        Args:
            ids: int `[size]`.
        """
        if not self._is_plain:
            raise four_part_error(
                "OutputHead cannot be cut down to some tokens",
                "a last product of plain weights",
                "weights that are quantised or adapted, or an embedding with "
                "logit_soft_cap or reverse_dtype",
                "Drop the shortlist: all tokens have logits",
            )
        return self._columns(ids)

    def logits(self, hidden, columns):
        """Return the logits `[batch, ..., size]` of the tokens of these columns.

        Args:
            hidden: `[batch, ..., depth]`.
            columns: of `columns` or of `precompute`.
        """
        hidden = ops.cast(hidden, columns.kernel.dtype)
        logits = ops.cast(ops.matmul(hidden, columns.kernel), self.dtype)
        if self.bias is None:
            return logits
        return logits + ops.cast(columns.bias, self.dtype)

    def _columns(self, ids=None):
        kernel, is_transposed = self._kernel
        bias = () if self.bias is None else ops.convert_to_tensor(self.bias)
        if ids is not None:
            kernel = ops.take(kernel, ids, axis=0 if is_transposed else 1)
            bias = () if self.bias is None else ops.take(bias, ids)
        kernel = ops.transpose(kernel) if is_transposed else kernel
        return Columns(ops.cast(kernel, self.layer.compute_dtype), bias)

    @property
    def _is_embedding(self):
        return isinstance(self.layer, keras.layers.ReversibleEmbedding)

    @property
    def _is_plain(self):
        """Whether the layer multiplies by its weights, and does nothing else."""
        changes = [self.layer.quantization_mode, self.layer.lora_enabled]
        if self._is_embedding:
            changes += [self.layer.logit_soft_cap, self.layer.reverse_dtype]
        return not any(changes)

    @property
    def _kernel(self):
        """The weight, and whether it is `[vocabulary, depth]`."""
        if not self._is_embedding:
            return self.layer.kernel, False
        if self.layer.tie_weights:
            return self.layer.embeddings, True
        return self.layer.reverse_embeddings, False
