"""Decoding 16 source tokens into 32 target tokens with the reference model.

No sentence ends before, so that all contenders take the same steps, and the encoder
counts, for all. Our times include what the rivals do without: masks, scores of greedy
decoding, alignments, what was forbidden.
"""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks.reference import (
    BATCH,
    EMBEDDING,
    LENGTH,
    UNITS,
    VOCABULARY,
    check_complete,
    make_attention_matter,
    values,
    weights_of_ours,
)
from benchmarks.registry import Contender, Contest, Tolerance, benchmark
from benchmarks.rivals.eager_loop import EagerLoop
from benchmarks.rivals.keras_encoder import keras_encoder
from benchmarks.rivals.plain_loop import PlainLoop

STEPS, WIDTH = 32, 5
SPECIAL = 3  # padding, start and end are the first ids
# Logits must be apart: where the rivals' rounding decides, tokens differ.
SPREAD = 20.0
TOLERANCES = [Tolerance("tokens", 0.0), Tolerance("scores", 1e-5)]


@benchmark
def greedy_1():
    """Greedy decoding of 1 sentence, 32 steps."""
    return _greedy(1)


@benchmark
def greedy_64():
    """Greedy decoding of 64 sentences, 32 steps."""
    return _greedy(BATCH)


@benchmark
def beam_1():
    """Beam search, width 5, of 1 sentence, 32 steps."""
    return _beam(1)


@benchmark
def beam_64():
    """Beam search, width 5, of 64 sentences, 32 steps."""
    return _beam(BATCH)


class Readout(keras.layers.Layer):
    """The head: one hidden layer, then the vocabulary."""

    def __init__(self, units, vocabulary, **kwargs):
        super().__init__(**kwargs)
        self.hidden = keras.layers.Dense(units, activation="tanh")
        self.logits = keras.layers.Dense(vocabulary)

    def build(self, outputs_shape):
        self.hidden.build(outputs_shape)
        self.logits.build((*outputs_shape[:-1], self.hidden.units))

    def call(self, outputs):
        return self.logits(self.hidden(outputs))

    def compute_output_shape(self, outputs_shape):
        return (*outputs_shape[:-1], self.logits.units)


def our_model():
    """The reference model, ready to decode."""
    cell = ks.BahdanauCell(UNITS, attention=ks.BahdanauAttention(UNITS), cell="gru")
    return ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        encoder=ks.BiEncoder(UNITS, cell="gru"),
        bridge=ks.DenseBridge(UNITS),
        target_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        decoder=ks.AttentionDecoder(cell),
        head=Readout(UNITS, VOCABULARY),
    )


def _greedy(batch):
    ours, weights, source = _prepared(batch)
    encoder = keras_encoder(weights)
    eager, plain = EagerLoop(encoder, weights), PlainLoop(encoder, weights)
    source_tf = tf.constant(source)
    torch_step, notes = _torch(weights, lambda m, ids: (m.greedy(ids, STEPS),), source)
    steps = {
        "keras_seqattn": lambda: _ours(ours, source_tf, ks.Greedy())[:1],
        "PyTorch eager": torch_step,
        "eager Keras loop": lambda: eager.greedy(source_tf, STEPS)[:1],
        "plain while_loop": lambda: plain.greedy(source_tf, STEPS)[:1],
        "plain, with scores": lambda: plain.greedy(source_tf, STEPS, scored=True)[:1],
    }
    return _contest(steps, notes)


def _beam(batch):
    ours, weights, source = _prepared(batch)
    plain = PlainLoop(keras_encoder(weights), weights)
    source_tf, search = tf.constant(source), ks.BeamSearch(WIDTH, n_best=WIDTH)
    torch_step, notes = _torch(
        weights, lambda m, ids: m.beam(ids, STEPS, WIDTH), source
    )
    steps = {
        "keras_seqattn": lambda: _ours(ours, source_tf, search),
        "PyTorch eager": torch_step,
        "plain while_loop": lambda: plain.beam(source_tf, STEPS, WIDTH),
    }
    return _contest(steps, notes)


def _prepared(batch):
    """Our model, its weights as the rivals name and shape them, and sources."""
    keras.utils.set_random_seed(1409)
    model = our_model()
    layers = {
        name: getattr(model, name)
        for name in ("source_embedding", "target_embedding", "encoder", "bridge")
    }
    layers["decoder"] = model.decoder
    layers.update(hidden=model.head.hidden, logits=model.head.logits)
    variables = weights_of_ours(layers)
    check_complete((model, variables))
    make_attention_matter(variables)
    logits = model.head.logits
    bias = np.where(np.arange(VOCABULARY) < SPECIAL, -100.0, np.asarray(logits.bias))
    logits.bias.assign(bias)
    logits.kernel.assign(logits.kernel * SPREAD)
    weights = {name: _one_array(name, values(v)) for name, v in variables.items()}
    rng = np.random.default_rng(1409)
    source = rng.integers(SPECIAL, VOCABULARY, (BATCH, LENGTH), dtype="int32")
    return model, weights, source[:batch]


def _one_array(name, value):
    if isinstance(value, tuple):  # kernels below each other, biases as rows
        return np.concatenate([np.atleast_2d(part) for part in value])
    return np.reshape(value, (-1, 1)) if name == "score.kernel" else np.asarray(value)


def _ours(model, source, search):
    decoded = ks.decode(model, source, search, max_length=STEPS)
    return decoded.tokens, decoded.scores


def _torch(weights, search, source):
    """One step of the PyTorch rival and no note; without PyTorch, None and a note."""
    try:
        import torch

        from benchmarks.rivals.torch_seq2seq import torch_seq2seq
    except ImportError:
        return None, ("PyTorch is not installed (pip install -e .[bench]): left out",)
    model, ids = torch_seq2seq(weights), torch.from_numpy(source).long()
    return lambda: search(model, ids), ()


def _contest(steps, notes):
    def contender(name, step):
        def run():
            return [np.asarray(result) for result in step()]

        def results():
            found = dict(zip(("tokens", "scores"), run(), strict=False))
            # Ours has an axis of hypotheses where greedy decoding has only one.
            found["tokens"] = found["tokens"].reshape(-1, STEPS)
            return found

        return Contender(name, run, results)

    ours, *rivals = (contender(*item) for item in steps.items() if item[1] is not None)
    return Contest(ours, rivals, TOLERANCES, STEPS, notes)
