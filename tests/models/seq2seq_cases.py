"""`Seq2Seq` models of every kind, and a padded batch for them."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.decoding.real_models import (
    SOURCE,
    SOURCE_VOCABULARY,
    UNITS,
    VOCABULARY,
    seq2seq,
    wide,
)

TARGET = np.array(
    [[1, 5, 6, 7, 8], [1, 9, 3, 0, 0], [1, 4, 4, 4, 0], [1, 0, 0, 0, 0]], "int32"
)
LABELS = np.array(
    [[5, 6, 7, 8, 2], [9, 3, 2, 9, 9], [4, 4, 4, 2, 9], [2, 9, 9, 9, 9]], "int32"
)  # labels of padding: a loss must not read them
INPUTS = {"source": SOURCE, "target": TARGET}
CELLS = {
    "bahdanau": lambda: seq2seq(cell="bahdanau"),
    "luong": lambda: seq2seq(cell="luong"),
    "heads": lambda: seq2seq("heads"),
    "coverage": lambda: seq2seq("coverage"),
    "deep_head": lambda: deep_head(),
    "joint": lambda: tied(3),
    "pointer": lambda: pointer("heads"),
}


@keras.saving.register_keras_serializable(package="tests")
class Pointer(ks.layers.OutputHead):
    """Adds the alignment to each source position to the logit of the id there."""

    reads = ("source", "outputs", "alignment")

    def build(self, source_shape, outputs_shape, alignment_shape):
        super().build(outputs_shape)

    def call(self, source, outputs, alignment, outputs_mask=None, training=None):
        logits = super().call(outputs, mask=outputs_mask, training=training)
        if len(alignment.shape) > len(outputs.shape):  # heads
            alignment = keras.ops.mean(alignment, axis=-2)
        size = self.vocabulary_size
        ids = keras.ops.one_hot(source, size, dtype=alignment.dtype)
        return logits + 5 * keras.ops.einsum("b...s,bsv->b...v", alignment, ids)

    def compute_output_shape(self, source_shape, outputs_shape, alignment_shape):
        return super().compute_output_shape(outputs_shape)


def pointer(attention="bahdanau", **options):
    return seq2seq(attention, head=Pointer(VOCABULARY), **options)


def deep_head():
    """Return a model whose head reads outputs and target embeddings."""
    keras.utils.set_random_seed(5)
    return seq2seq(cell="bahdanau", head=ks.layers.DeepOutputHead(VOCABULARY, UNITS))


def tied(ways):
    """Return a tied model.

    2 ways: target embedding and head. 3 ways: source embedding, too.
    """
    keras.utils.set_random_seed(6)
    shared = keras.layers.ReversibleEmbedding(
        SOURCE_VOCABULARY, 5, embeddings_initializer=wide()
    )
    parts = {"head": ks.layers.OutputHead(SOURCE_VOCABULARY, embedding=shared)}
    if ways == 3:
        parts |= {"source_embedding": shared, "target_embedding": None}
    else:
        parts |= {"target_embedding": shared}
    return seq2seq(cell="bahdanau", **parts)


def array(x):
    return np.asarray(keras.ops.convert_to_numpy(x), "float32")


SLOW = ("luong", "coverage")  # similar to the others
MODELS = [
    pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CELLS
]
