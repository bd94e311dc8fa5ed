"""Strings to strings: the SavedModel of a trained translator beside plain loops.

All 1000 sentences of Multi30k's test_2016_flickr, 64 in a call, in the order in which
they come. The rivals have the same weights, the same limits of lengths and, inside
their functions, the same subwords. KERAS_SEQATTN_RUN names the translator,
KERAS_SEQATTN_DATA the folder with the corpus.
"""

import tempfile

import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import trained
from benchmarks.reference import BATCH
from benchmarks.registry import Contender, Contest, Tolerance, benchmark
from benchmarks.rivals.plain_translator import PlainTranslator

WIDTH, PENALTY = 5, 1.0  # of the beam; what a Translator takes by default
# Where two words or two hypotheses are as good as each other, rounding decides.
TOLERANCES = [Tolerance("texts", 0.002), Tolerance("scores", 1e-3)]


@benchmark
def exported_greedy():
    """1000 sentences of Multi30k, strings to strings, greedy."""
    return greedy(trained.test_set().source)


@benchmark
def exported_beam():
    """1000 sentences of Multi30k, strings to strings, beam of 5."""
    return beam(trained.test_set().source, WIDTH, PENALTY)


def greedy(sentences):
    """Ours returns scores, too."""
    translator = trained.translator(ks.Greedy())
    plain, torch, notes = rivals(translator)
    steps = {
        "keras_seqattn": saved_model(translator),
        "plain while_loop": lambda texts: plain.greedy(tf.constant(texts)),
        "plain, with scores": lambda texts: plain.greedy(tf.constant(texts), True),
        "PyTorch eager": torch and torch.greedy,
    }
    return contest(steps, sentences, ("texts",), notes)


def beam(sentences, width, penalty):
    """All return scores."""
    translator = trained.translator(ks.BeamSearch(width, length_penalty=penalty))
    plain, torch, notes = rivals(translator)
    steps = {
        "keras_seqattn": saved_model(translator),
        "plain while_loop": lambda texts: plain.beam(
            tf.constant(texts), width, penalty
        ),
        "PyTorch eager": torch and (lambda texts: torch.beam(texts, width, penalty)),
    }
    return contest(steps, sentences, ("texts", "scores"), notes)


def saved_model(translator):
    """As whoever gets the export calls it: a function of texts."""
    with tempfile.TemporaryDirectory() as folder:
        translator.export(f"{folder}/model")
        loaded = tf.saved_model.load(f"{folder}/model")

    def translate(texts):
        found = loaded.signatures["serving_default"](tf.constant(texts))
        return found["text"], found["score"]

    return translate


def rivals(translator):
    """The plain loop; PyTorch, or None and a note."""
    weights, subwords = trained.weights(translator.model), trained.sentence_piece()
    made = weights, subwords, trained.LIMIT
    plain = PlainTranslator(encoder(translator.model), *made)
    try:
        from benchmarks.rivals.torch_translator import torch_translator
    except ImportError:
        note = "PyTorch is not installed (pip install -e .[bench]): left out"
        return plain, None, (note,)
    return plain, torch_translator(*made), ()


def encoder(model):
    """Ours for the plain loop, too: what is compared is searching."""

    def encode(ids):
        started = model.start(ids)
        return started.memory.values, started.memory.mask, started.state.recurrent

    return encode


def contest(steps, sentences, compared, notes):
    """`steps` by name, from a list of texts to texts and scores; None: left out."""

    def contender(name, translate):
        def run():
            found = [_strings(*translate(batch)) for batch in _batches(sentences)]
            return [np.concatenate(parts) for parts in zip(*found, strict=True)]

        def results():
            return dict(zip(compared, run(), strict=False))

        return Contender(name, run, results)

    ours, *others = (contender(*item) for item in steps.items() if item[1] is not None)
    return Contest(ours, others, TOLERANCES, notes=notes)


def _batches(sentences):
    return (sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH))


def _strings(texts, *scores):
    """Texts that Python can use."""
    texts = [x.decode() if isinstance(x, bytes) else x for x in np.asarray(texts)]
    return np.array(texts), *(np.asarray(x) for x in scores)
