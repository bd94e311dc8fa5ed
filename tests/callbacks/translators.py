"""A translator for tests of callbacks, which follows a script."""

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
        options = {"verbose": 0, "batch_size": 1, "epochs": epochs, **options}
        callbacks = [validation, *callbacks]
        return self.model.fit(x, x, callbacks=callbacks, **options).history


def validation(translator, **options):
    options = {"metrics": ["exact_match"], **options}
    return ks.callbacks.Validation(translator, PAIRS, **options)
