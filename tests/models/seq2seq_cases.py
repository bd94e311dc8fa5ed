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
}


def parts(embedding, target_embedding=None, head=None):
    return dict(
        source_embedding=embedding,
        encoder=ks.BiEncoder(UNITS),
        bridge=ks.layers.DenseBridge(UNITS),
        target_embedding=target_embedding,
        decoder=ks.AttentionDecoder(
            ks.layers.BahdanauCell(UNITS, attention=ks.BahdanauAttention(UNITS))
        ),
        head=head,
    )


def deep_head():
    """Return a head that reads outputs and target embeddings."""
    keras.utils.set_random_seed(5)
    source, target = [
        keras.layers.Embedding(n, 5, embeddings_initializer=wide())
        for n in (SOURCE_VOCABULARY, VOCABULARY)
    ]
    head = ks.layers.DeepOutputHead(VOCABULARY, UNITS)
    return ks.Seq2Seq(**parts(source, target, head))


def tied(ways):
    """Return a tied model.

    2 ways: target embedding and head. 3 ways: source embedding, too.
    """
    keras.utils.set_random_seed(6)
    shared = keras.layers.ReversibleEmbedding(
        SOURCE_VOCABULARY, 5, embeddings_initializer=wide()
    )
    head = ks.layers.OutputHead(SOURCE_VOCABULARY, embedding=shared)
    if ways == 3:
        return ks.Seq2Seq(**parts(shared, None, head))
    source = keras.layers.Embedding(SOURCE_VOCABULARY, 5, embeddings_initializer=wide())
    return ks.Seq2Seq(**parts(source, shared, head))


def array(x):
    return np.asarray(keras.ops.convert_to_numpy(x), "float32")


SLOW = ("luong", "coverage")  # similar to the others
MODELS = [
    pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CELLS
]
