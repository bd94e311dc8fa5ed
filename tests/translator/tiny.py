"""Translators that are made in a moment; one has learned seven sentences by heart."""

import functools

import keras
import numpy as np

import keras_seqattn as ks

SOURCES = ["abba", "ÉCOLE", "a b", "dé ja", "cafe", "deaf cab", "b"]
TARGETS = ["xy", "yx", "zz x", "xyz", "zy", "xzy zx", "y"]
PAIRS = ks.data.Pairs(SOURCES, TARGETS)
BEAM = ks.BeamSearch(3, n_best=2)


def model(source_text, target_text, attention=None, seed=1, units=16):
    attention = ks.BahdanauAttention(units) if attention is None else attention
    sizes = source_text.vocabulary_size, target_text.vocabulary_size
    embeddings = [keras.layers.Embedding(size, units) for size in sizes]
    options = {"bridge": ks.layers.DenseBridge(units)}
    options["target_embedding"] = None if source_text is target_text else embeddings[1]
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(units, attention=attention))
    parts = embeddings[0], ks.BiEncoder(units), decoder, ks.layers.OutputHead(sizes[1])
    made = ks.Seq2Seq(*parts, **options)
    random = np.random.default_rng(seed)
    deviation = 1 / np.sqrt(units)
    made.set_weights([random.normal(0, deviation, w.shape) for w in made.get_weights()])
    return made


def translator(source_text, target_text, *, attention=None, **options):
    options = {"search": BEAM, "max_length": 7, **options}
    made = model(source_text, target_text, attention)
    return ks.Translator(made, source_text, target_text, **options)


@functools.cache
def texts():
    """Processors of characters; that of the source has several normalisations."""
    source = ks.text.Characters.learn(SOURCES, normalization="nfkc", lowercase=True)
    return source, ks.text.Characters.learn(TARGETS)


@functools.cache
def untrained():
    """From letters to letters; says something, whatever it reads."""
    return translator(*texts())


@functools.cache
def letters():
    """From letters to letters, trained: it knows the targets of the sources."""
    keras.utils.set_random_seed(1)
    source, target = texts()
    made = ks.Translator(model(source, target), source, target, BEAM, max_length=7)
    made.model.compile(keras.optimizers.Adam(0.03), ks.losses.SmoothedCrossentropy())
    often = ks.data.Pairs(SOURCES * 60, TARGETS * 60)
    dataset = made.dataset(often, batch_size=7)
    made.model.fit(dataset, shuffle=False, verbose=0)
    return made


@functools.cache
def joint():
    text = ks.text.SentencePiece.learn([*SOURCES, *TARGETS], 24, lowercase=True)
    return translator(text, text, search=ks.Greedy())
