"""The reversal task of `examples/reverse.py` for every decoder cell."""

import keras
import numpy as np

import keras_seqattn as ksa
from examples import reverse
from examples.reverse import UNITS, Measured, reverser

LAST = 5  # evaluations that count, one after each epoch


def bahdanau():
    cell = ksa.layers.BahdanauCell(
        UNITS, attention=ksa.BahdanauAttention(UNITS), cell="gru"
    )
    return reverser(
        ksa.BiEncoder(UNITS, cell="gru"), ksa.layers.DenseBridge(UNITS), cell
    )


def luong():
    cell = ksa.layers.LuongCell(
        UNITS, attention=ksa.LuongAttention("general"), cell="gru"
    )
    return reverser(
        ksa.BiEncoder(UNITS, cell="gru"), ksa.layers.DenseBridge(UNITS), cell
    )


def gnmt():
    attention = ksa.BahdanauAttention(UNITS)
    cell = ksa.layers.GNMTCell(UNITS, attention=attention, cell="gru", layers=2)
    # Not GNMT's encoder: its top layer is one-way, so that its annotations know the
    # symbol before, and the attention may settle one position beside the diagonal.
    encoder = ksa.BiEncoder(UNITS, cell="gru")
    return reverser(encoder, ksa.layers.DenseBridge([UNITS, UNITS]), cell)


def context():
    """No attention: the final state of the encoder has to hold the whole sequence."""
    cell = ksa.layers.ContextCell(2 * UNITS, cell="gru", use_context=True)
    encoder = ksa.BiEncoder(2 * UNITS, cell="gru")
    return reverser(encoder, ksa.layers.DenseBridge(2 * UNITS), cell)


class Watch(keras.callbacks.Callback):
    """Measures after every epoch; stops when the mean of the last few is enough."""

    def __init__(self, pairs, enough):
        super().__init__()
        self.pairs, self.enough = pairs, enough
        self.measured = []

    def on_epoch_end(self, epoch, logs=None):
        self.measured.append(reverse.measure(self.model, self.pairs))
        reached = np.greater_equal(self.mean_of_last(), self.enough)
        self.model.stop_training = len(self.measured) >= LAST and bool(np.all(reached))

    def mean_of_last(self):
        return Measured(*np.mean(self.measured[-LAST:], axis=0).tolist())


def train(build, seed, longest=reverse.LONGEST, enough=(0.996, 0.95), **options):
    """The trained model, its `Watch` and the losses of the epochs."""
    keras.utils.set_random_seed(seed)
    random = np.random.default_rng(seed)
    model = build()
    watch = Watch(reverse.random_pairs(random, 500, longest), enough)
    history = reverse.train(
        model, random, longest, callbacks=[watch], verbose=0, **options
    )
    return model, watch, history.history["loss"]
