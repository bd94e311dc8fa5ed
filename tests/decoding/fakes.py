"""Models without training: their logits are in their source.

Searches see a `StepModel` only, so the tests of searches need no layer, and one trace
of a fake serves every example: the numbers come in as tensors.
"""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import keras_seqattn as ks

VOCABULARY, SOURCE = 6, 3
STATES = 997  # so many that no two hypotheses reach the same state and score
PAD, START, END = 0, 1, 2


class TableMemory(NamedTuple):
    table: Any  # float32 [batch, states, vocabulary], logits
    look: Any  # float32 [batch, states, (heads,) source], alignments
    mask: Any  # bool [batch, source]


class TableModel:
    """An automaton: its state and its logits depend on all tokens so far."""

    def start(self, source):
        memory = TableMemory(source["table"], source["look"], source["mask"])
        return ks.types.Started(tf.zeros(tf.shape(memory.table)[:1], tf.int32), memory)

    def step(self, tokens, state, memory):
        states = tf.shape(memory.table)[1]
        state = (state * VOCABULARY + tokens + 1) % states
        logits = tf.gather(memory.table, state, batch_dims=1)
        return ks.types.Step(logits, tf.gather(memory.look, state, batch_dims=1), state)


MODEL = TableModel()  # shared by all tests, so that each search is traced once


class Counting(TableModel):
    def __init__(self):
        self.traces = 0

    def start(self, source):
        self.traces += 1
        return super().start(source)


def after(state, token):
    return (state * VOCABULARY + token + 1) % STATES


def tables(seed, batch=3, scale=1.5, heads=None, source=SOURCE):
    """Return a random source for `TableModel`, with rows of different lengths."""
    random = np.random.default_rng(seed)
    inside = [batch, STATES, *([] if heads is None else [heads]), source]
    real = np.arange(source) < random.integers(1, source + 1, (batch, 1))
    look = np.exp(1.5 * random.normal(size=inside))
    look *= real[:, None] if heads is None else real[:, None, None]
    look /= look.sum(axis=-1, keepdims=True)
    return {
        "table": random.normal(0, scale, [batch, STATES, VOCABULARY]).astype("float32"),
        "look": look.astype("float32"),
        "mask": real,
    }


def log_probs(logits):
    """Return log-probabilities; logits that are not finite are impossible."""
    logits = np.where(np.isfinite(logits), logits, -np.inf).astype("float64")
    largest = np.maximum(logits.max(axis=-1, keepdims=True), -1e30)
    sums = np.exp(logits - largest).sum(axis=-1, keepdims=True)
    return logits - largest - np.log(np.where(sums == 0, 1.0, sums))


class SpellMemory(NamedTuple):
    word: Any  # int32 [batch, source]
    mask: Any


class Speller:
    """Copies its source and attends to the copied token, whose logit is 5."""

    def __init__(self, vocabulary=10):
        self.vocabulary = vocabulary

    def start(self, source):
        memory = SpellMemory(source, tf.not_equal(source, PAD))
        return ks.types.Started(tf.zeros(tf.shape(source)[:1], tf.int32), memory)

    def step(self, tokens, state, memory):
        size = tf.shape(memory.word)[1]
        at = tf.minimum(state, size - 1)
        word = tf.gather(memory.word, at, batch_dims=1)
        look = tf.one_hot(at, size)
        return ks.types.Step(5.0 * tf.one_hot(word, self.vocabulary), look, state + 1)
