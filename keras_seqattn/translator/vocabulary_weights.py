"""The weights of a model that have a row or a column for each token."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.models import Seq2Seq
from keras_seqattn.models.layer_paths import layer_paths


class VocabularyWeight(NamedTuple):
    """A weight with one vector, or one number, for each token."""

    side: str  # "source" or "target", whose tokens they are
    variable: Any
    axis: int  # of the tokens

    def rows(self):
        """Return the values with the tokens along the first axis."""
        values = ops.convert_to_numpy(self.variable)
        return values.T if self.axis else values

    def assign(self, rows):
        """Assign values that have the tokens along the first axis."""
        self.variable.assign(rows.T if self.axis else rows)


def vocabulary_weights(model):
    """Return `{name: VocabularyWeight}`; one weight may have several names.

    Of a model that is not a `Seq2Seq` nothing is known, and the dict is empty.
    """
    if not isinstance(model, Seq2Seq):
        return {}
    found = {}
    for side in ("source", "target"):
        part = getattr(model, f"{side}_embedding")
        for layer in (part, *layer_paths(part).values()):
            if isinstance(layer, keras.layers.Embedding):
                found[f"{side} embedding"] = VocabularyWeight(side, layer.embeddings, 0)
                break
    product = getattr(model.head, "last_product", None)
    if product is not None:
        found["output"] = VocabularyWeight("target", *_kernel(product.layer))
        if product.bias is not None:
            found["output bias"] = VocabularyWeight("target", product.bias, 0)
    return found


def _kernel(layer):
    """Return the weight of a last product, and its axis of the tokens."""
    if not isinstance(layer, keras.layers.ReversibleEmbedding):
        return layer.kernel, 1
    if layer.tie_weights:
        return layer.embeddings, 0
    return layer.reverse_embeddings, 1
