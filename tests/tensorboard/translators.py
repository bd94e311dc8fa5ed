"""Translators for the callback, and stand-ins that count calls."""

import keras

import keras_seqattn as ks
from tests.translator import tiny

SENTENCES, REFERENCES = tiny.SOURCES[:3], tiny.TARGETS[:3]


def compiled(attention=None, search=None, **optimizer):
    """A translator whose model is about to be trained."""
    options = {} if search is None else {"search": search}
    made = tiny.translator(*tiny.texts(), attention=attention, **options)
    optimizer = keras.optimizers.Adam(0.05, **optimizer)
    made.model.compile(optimizer, ks.losses.SmoothedCrossentropy())
    return made


def fit(translator, *callbacks, epochs=3, **options):
    """Trains on the seven sentences of `tiny`, three batches in an epoch."""
    dataset = translator.dataset(tiny.PAIRS, batch_size=3, shuffle=False)
    return translator.model.fit(
        dataset,
        **{"verbose": 0, **options},
        epochs=epochs,
        shuffle=False,
        validation_data=dataset,
        callbacks=list(callbacks),
    )


class FixedProbe:
    """A stand-in for a probe: it returns pictures or raises, and counts calls."""

    def __init__(self, *pictures, error=None):
        self.made, self.error, self.count = list(pictures), error, 0

    def pictures(self):
        self.count += 1
        if self.error is not None:
            raise self.error
        return self.made
