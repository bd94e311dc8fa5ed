"""A small translation model with each decoder cell, as a user would write it."""

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn.layers import CopyBridge, DenseBridge

SOURCE_VOCABULARY, VOCABULARY, UNITS = 13, 11, 8
ENCODERS = {"bahdanau": "gru", "luong": "lstm", "gnmt": "lstm", "context": "simple"}
CELLS = {
    "bahdanau": lambda: ks.layers.BahdanauCell(UNITS, ks.BahdanauAttention(UNITS)),
    "luong": lambda: ks.layers.LuongCell(2 * UNITS, ks.LuongAttention("general")),
    "gnmt": lambda: ks.layers.GNMTCell(
        UNITS, ks.BahdanauAttention(UNITS), layers=2, residual_from=2
    ),
    "context": lambda: ks.layers.ContextCell(2 * UNITS, "simple", use_context=True),
}
BRIDGES = {
    "bahdanau": lambda: DenseBridge(UNITS, inputs="backward"),
    "luong": CopyBridge,
    "gnmt": lambda: DenseBridge([[UNITS, UNITS]] * 2),
    "context": CopyBridge,
}


def translation_model(name):
    """Masks are made by the embeddings and never mentioned again."""
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embedding = keras.layers.Embedding(SOURCE_VOCABULARY, UNITS, mask_zero=True)
    encoded = ks.BiEncoder(UNITS, cell=ENCODERS[name])(embedding(source))
    embedded = keras.layers.Embedding(VOCABULARY, UNITS, mask_zero=True)(target)
    decoder = ks.AttentionDecoder(CELLS[name]())
    state = BRIDGES[name]()(encoded)
    outputs = decoder(embedded, encoded.values, initial_state=state)
    return keras.Model([source, target], ks.layers.OutputHead(VOCABULARY)(outputs))


def batch(size=8, source=7, target=6, lengths=None):
    """Padded ids; the last source is empty. The labels have no padding of their own.

    Labels under the mask are random tokens, so that a loss which reads them is wrong.
    """
    random = np.random.default_rng(7)
    sources = random.integers(1, SOURCE_VOCABULARY, (size, source))
    targets, labels = random.integers(1, VOCABULARY, (2, size, target))
    if lengths is None:
        lengths = random.integers(1, target + 1, size)
    source_lengths = random.integers(1, source + 1, size)
    source_lengths[-1] = 0
    sources *= np.arange(source) < source_lengths[:, None]
    targets *= np.arange(target) < np.asarray(lengths)[:, None]
    return [sources.astype("int32"), targets.astype("int32")], labels


def token_mean(logits, labels, real):
    logits = np.asarray(logits, "float64")
    logits = logits - np.max(logits, axis=-1, keepdims=True)
    logs = logits - np.log(np.sum(np.exp(logits), axis=-1, keepdims=True))
    return -np.mean(np.take_along_axis(logs, labels[..., None], axis=-1)[real])


def compiled(model, **options):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(ks.optimizers.FusedAdam(0.02), loss, **options)
    return model
