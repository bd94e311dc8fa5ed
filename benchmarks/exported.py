"""Strings to strings: the SavedModel of a trained translator beside plain loops.

It translates all 1000 sentences of Multi30k's test_2016_flickr, 64 in a call, in their
original order. The rivals use the same weights, the same length limits and, inside
their functions, the same subwords. KERAS_SEQATTN_RUN names the translator,
KERAS_SEQATTN_DATA the folder with the corpus.
"""

import tempfile

import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import trained
from benchmarks.contender import Contender
from benchmarks.rivals.plain_translator import PlainTranslator
from benchmarks.sizes import REFERENCE

ALPHA = 1.0  # length penalty of the beam; the default of a Translator


def ours(width=None):
    """Return a contender: the SavedModel, called as its users call it."""
    search = (
        ks.Greedy() if width is None else ks.BeamSearch(width, length_penalty=ALPHA)
    )
    translator = trained.translator(search)
    with tempfile.TemporaryDirectory() as folder:
        translator.export(f"{folder}/model")
        loaded = tf.saved_model.load(f"{folder}/model")

    def translate(texts):
        found = loaded.signatures["serving_default"](tf.constant(texts))
        return found["text"], found["score"]

    return _contender(translate, width)


def plain(width=None, scored=False):
    """Return a contender: the plain loop; if `scored`, greedy search has scores."""
    model = trained.translator(ks.Greedy()).model
    loop = PlainTranslator(encoder(model), *_parts(model))

    def translate(texts):
        if width is None:
            return loop.greedy(tf.constant(texts), scored)
        return loop.beam(tf.constant(texts), width, ALPHA)

    return _contender(translate, width)


def torch(width=None):
    """Return a contender: PyTorch, eager."""
    from benchmarks.rivals.torch_translator import torch_translator

    model = torch_translator(*_parts(trained.translator(ks.Greedy()).model))

    def translate(texts):
        return model.greedy(texts) if width is None else model.beam(texts, width, ALPHA)

    return _contender(translate, width)


def _parts(model):
    return trained.weights(model), trained.sentence_piece(), trained.LIMIT


def encoder(model):
    """Return our encoder, also for the plain loop: only the searches are compared."""

    def encode(ids):
        started = model.start(ids)
        return started.memory.values, started.memory.mask, started.state.recurrent

    return encode


def _contender(translate, width):
    """Return a contender; `translate` maps texts to texts and, with a beam, scores."""
    sentences = trained.test_set().source

    def run():
        found = [_strings(*translate(batch)) for batch in _batches(sentences)]
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def results():
        names = ("texts",) if width is None else ("texts", "scores")
        return dict(zip(names, run(), strict=False))

    return Contender(run, results)


def _batches(sentences):
    size = REFERENCE.batch
    return (sentences[i : i + size] for i in range(0, len(sentences), size))


def _strings(texts, *scores):
    """Return texts as Python strings, and scores as arrays."""
    texts = [x.decode() if isinstance(x, bytes) else x for x in np.asarray(texts)]
    return np.array(texts), *(np.asarray(x) for x in scores)
