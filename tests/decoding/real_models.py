"""Small `Seq2Seq` models with every kind of attention."""

import functools

import keras
import numpy as np

import keras_seqattn as ks

SOURCE_VOCABULARY, VOCABULARY, UNITS = 13, 12, 6

ATTENTIONS = {
    "bahdanau": lambda: ks.BahdanauAttention(UNITS),
    "coverage": lambda: ks.layers.CoverageAttention(UNITS),  # its state moves
    "local": lambda: ks.layers.LocalAttention(ks.LuongAttention("general"), window=2),
    "monotonic": lambda: ks.layers.MonotonicAttention(ks.BahdanauAttention(UNITS)),
    "heads": lambda: ks.layers.MultiHeadAdditiveAttention(UNITS, heads=2),
}
LINES = "5 6 7 8 9 2", "4 12 3 2 0 0", "9 2 0 0 0 0", "3 11 10 5 2 0"
SOURCE = np.array([line.split() for line in LINES], "int32")


def wide(stddev=1.0):
    """Return large weights: with small ones, all logits would be nearly equal."""
    return keras.initializers.RandomNormal(stddev=stddev)


def seq2seq(attention="bahdanau", cell="luong", seed=3, **options):
    keras.utils.set_random_seed(seed)
    embedding = functools.partial(
        keras.layers.Embedding, output_dim=5, embeddings_initializer=wide()
    )
    attention = ATTENTIONS[attention]()
    if cell == "luong":
        cell, sizes = ks.layers.LuongCell(UNITS, attention), [UNITS, UNITS]
    else:
        cell, sizes = ks.layers.BahdanauCell(UNITS, attention), UNITS
    parts = {
        "source_embedding": embedding(SOURCE_VOCABULARY),
        "encoder": ks.BiEncoder(UNITS),
        "bridge": ks.layers.DenseBridge(sizes),
        "target_embedding": embedding(VOCABULARY),
        "decoder": ks.AttentionDecoder(cell),
        "head": ks.layers.OutputHead(VOCABULARY, kernel_initializer=wide(2.0)),
    }
    return ks.Seq2Seq(**{**parts, **options})


@functools.cache
def known(attention):
    return seq2seq(attention)
