"""Toy translation: copy, reverse or sort a sequence of symbols."""

from typing import Any, NamedTuple

import keras
import numpy as np

import keras_seqattn as ksa

TOKENS = ksa.types.SpecialTokens()
FIRST, VOCABULARY = 4, 16  # the symbols are 4, ..., 15; the vocabulary of `small`
TASKS = {"copy": list, "reverse": lambda symbols: symbols[::-1], "sort": sorted}


class Pairs(NamedTuple):
    """Padded ids: what is read, what is fed, what is to be written."""

    source: Any  # [batch, source]
    inputs: Any  # [batch, source + 1], start token and symbols
    labels: Any  # [batch, source + 1], symbols and end token


def random_pairs(random, task, count, longest):
    """Sequences of 1 to `longest` random symbols; every length is as likely."""
    source, inputs, labels = np.full((3, count, longest + 1), TOKENS.pad, "int32")
    for row, n in enumerate(random.integers(1, longest + 1, count)):
        symbols = random.integers(FIRST, VOCABULARY, n)
        written = TASKS[task](list(symbols))
        source[row, :n] = symbols
        inputs[row, : n + 1] = [TOKENS.start, *written]
        labels[row, : n + 1] = [*written, TOKENS.end]
    return Pairs(source[:, :longest], inputs, labels)


def train(model, random, task, longest, steps, learning_rate=3e-3, batch=128):
    """Losses of all steps."""

    def batches():
        while True:
            pairs = random_pairs(random, task, batch, longest)
            yield {"source": pairs.source, "target": pairs.inputs}, pairs.labels

    rate = keras.optimizers.schedules.CosineDecay(learning_rate, decay_steps=steps)
    model.compile(
        keras.optimizers.Adam(rate, global_clipnorm=1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    options = {"steps_per_epoch": 1, "epochs": steps, "verbose": 0}
    history = model.fit(batches(), shuffle=False, **options)  # it is random already
    return np.array(history.history["loss"])


def exact_match(model, pairs):
    """Share of the sources whose greedy decode is right, end token included."""
    decoded = ksa.decode(model, pairs.source, ksa.Greedy(), pairs.labels.shape[1])
    tokens = np.zeros(pairs.labels.shape, "int32")
    written = np.asarray(decoded.tokens)[:, 0]
    tokens[:, : written.shape[1]] = written
    return float(np.mean(np.all(tokens == pairs.labels, axis=1)))
