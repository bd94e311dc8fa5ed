"""The weights of a model that have a row or a column for each token."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error
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


def check_known(trained, texts):
    """Check that the weights of a trained translator can follow other vocabularies.

    Args:
        trained: `Translator`.
        texts: the text processors of a new translator, source and target.
    """
    needed = set()
    if texts[0].vocabulary != trained.source_text.vocabulary:
        needed |= {"source embedding"}
    if texts[1].vocabulary != trained.target_text.vocabulary:
        needed |= {"target embedding", "output"}
    unknown = sorted(needed - set(vocabulary_weights(trained.model)))
    if unknown:
        raise four_part_error(
            "transfer cannot change the vocabulary of this model",
            "a Seq2Seq with layers Embedding, and an OutputHead or DeepOutputHead",
            f"{abbreviated(trained.model)} without a known {unknown[0]}",
            "Keep the vocabulary: pass no text processors",
        )


def _kernel(layer):
    """Return the weight of a last product, and its axis of the tokens."""
    if not isinstance(layer, keras.layers.ReversibleEmbedding):
        return layer.kernel, 1
    if layer.tie_weights:
        return layer.embeddings, 0
    return layer.reverse_embeddings, 1
