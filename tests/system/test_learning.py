"""Every decoder cell learns to write sequences backwards, and looks where it should.

20 symbols, fresh random sequences throughout. Exact match is free-running: the decoder
reads what it wrote itself. Sizes and learning rate were chosen with other seeds.
"""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from examples import reverse
from examples.reverse import UNITS, Measured

pytestmark = [pytest.mark.system, pytest.mark.timeout(1200)]
SEED, EXACT, AGREEMENT = 1409, 0.99, 0.95
LAST = 5  # evaluations that count, one after each epoch


def reverser(cell, units=UNITS, start=UNITS):
    encoder = ks.BiEncoder(units, cell="gru")
    return reverse.reverser(encoder, ks.layers.DenseBridge(start), cell)


def bahdanau():
    attention = ks.BahdanauAttention(UNITS)
    return reverser(ks.layers.BahdanauCell(UNITS, attention, cell="gru"))


def luong():
    attention = ks.LuongAttention("general")
    return reverser(ks.layers.LuongCell(UNITS, attention, cell="gru"))


def gnmt():
    # Not GNMT's encoder: its top layer is one-way, so that its annotations know the
    # symbol before, and the attention may settle one position beside the diagonal.
    attention = ks.BahdanauAttention(UNITS)
    cell = ks.layers.GNMTCell(UNITS, attention, cell="gru", layers=2)
    return reverser(cell, start=[UNITS, UNITS])


def context():
    """No attention: the final state of the encoder has to hold the whole sequence."""
    units = 2 * UNITS
    cell = ks.layers.ContextCell(units, cell="gru", use_context=True)
    return reverser(cell, units, start=units)


class Watch(keras.callbacks.Callback):
    """Measures after every epoch; stops when the mean of the last few is enough."""

    def __init__(self, pairs, enough):
        super().__init__()
        self.pairs, self.enough, self.measured = pairs, enough, []

    def on_epoch_end(self, epoch, logs=None):
        self.measured.append(reverse.measure(self.model, self.pairs))
        reached = np.greater_equal(self.mean_of_last(), self.enough)
        self.model.stop_training = len(self.measured) >= LAST and bool(np.all(reached))

    def mean_of_last(self):
        return Measured(*np.mean(self.measured[-LAST:], axis=0).tolist())


def check_learns(build, longest, agreement=AGREEMENT, **options):
    """Measured with unseen sequences; free-running, then told."""
    keras.utils.set_random_seed(SEED)
    random, model = np.random.default_rng(SEED), build()
    watch = Watch(reverse.random_pairs(random, 500, longest), (0.996, agreement))
    reverse.train(model, random, longest, callbacks=[watch], verbose=0, **options)
    pairs = reverse.random_pairs(np.random.default_rng(SEED + 1), 1000, longest)
    assert reverse.measure(model, pairs).exact >= EXACT
    logits = model({"source": pairs.source, "target": pairs.inputs}).numpy()
    told = (logits.argmax(axis=-1) == pairs.target) | (pairs.target == reverse.PAD)
    assert told.all(axis=1).mean() >= EXACT
    assert watch.mean_of_last().agreement >= agreement


def test_short_sequences_are_reversed_along_the_anti_diagonal():
    check_learns(bahdanau, 8, epochs=16, steps=30)


@pytest.mark.slow
@pytest.mark.parametrize("build", [bahdanau, luong, gnmt])
def test_long_sequences_are_reversed_along_the_anti_diagonal(build):
    check_learns(build, reverse.LONGEST)


@pytest.mark.slow
def test_without_attention_short_sequences_are_learned():
    check_learns(context, 8, agreement=0.0, steps=80)
