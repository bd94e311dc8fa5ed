"""Translators for tests of the callback: one follows a script, one really works."""

import keras
import numpy as np

import keras_seqattn as ks

SOURCES = [f"s{i}" for i in range(10)]
TARGETS = [f"t{i}" for i in range(10)]
PAIRS = (SOURCES, TARGETS)


class Scripted:
    """Of ten sentences, as many are right as the next number of the script says.

    Its model has one weight, which SGD moves by 1 in each step; `seen` is what it was
    whenever something was translated. (With more units there are more such weights.)
    """

    def __init__(self, *script, optimizer=None, units=1):
        self.script, self.seen = list(script), []
        dense = keras.layers.Dense(units, use_bias=False, kernel_initializer="zeros")
        self.model = keras.Sequential([keras.Input((1,)), dense])
        optimizer = optimizer or keras.optimizers.SGD(1.0)
        self.model.compile(optimizer, loss=lambda y, z: -keras.ops.sum(z, axis=-1))

    @property
    def weight(self):
        return float(self.model.get_weights()[0][0, 0])

    def translate(self, texts):
        self.seen.append(self.weight)
        right = self.script.pop(0)
        return [t.replace("s", "t") if i < right else "?" for i, t in enumerate(texts)]

    def fit(self, validation, epochs, steps=1, callbacks=(), **options):
        x = np.ones((steps, 1), "float32")
        return self.model.fit(
            *(x, x),
            batch_size=1,
            epochs=epochs,
            callbacks=[validation, *callbacks],
            **{"verbose": 0, **options},
        ).history


def validation(translator, **options):
    options = {"metrics": ["exact_match"], **options}
    return ks.callbacks.Validation(translator, PAIRS, **options)


class Digits:
    """A real model between strings of digits: the id of a digit is 4 more."""

    def __init__(self, units=8):
        cell = ks.layers.BahdanauCell(units, attention=ks.BahdanauAttention(units))
        self.model = ks.Seq2Seq(
            keras.layers.Embedding(14, units),
            ks.BiEncoder(units),
            ks.AttentionDecoder(cell),
            ks.layers.OutputHead(14),
            target_embedding=keras.layers.Embedding(14, units),
            bridge=ks.layers.DenseBridge(units),
        )

    def translate(self, texts):
        decoded = ks.decode(self.model, ids(texts, end=True), ks.Greedy(), 6)
        rows = decoded.tokens.numpy()[:, 0].tolist()
        return Texts(["".join(str(x - 4) for x in row if x > 3) for row in rows])

    def dataset(self, sources, targets):
        x = {"source": ids(sources, end=True), "target": ids(targets, start=True)}
        return x, ids(targets, end=True)


class Texts:
    def __init__(self, texts):
        self.texts = texts


def ids(texts, start=False, end=False):
    rows = [[1] * start + [int(c) + 4 for c in text] + [2] * end for text in texts]
    longest = max(map(len, rows))
    return np.array([row + [0] * (longest - len(row)) for row in rows])
