"""The next minor version of Keras: its RNN layers no longer pass masks on."""

import keras
import numpy as np
import pytest

from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from tests.system.small_model import CELLS, batch, compiled, translation_model

pytestmark = pytest.mark.system


@pytest.fixture
def keras_next(monkeypatch):
    """Simulates it: `supports_masking` is False for every RNN layer made from now on.

    It still reads a mask; it warns (an error in our tests) and drops it afterwards.
    """
    for layer in (keras.layers.RNN, keras.layers.Bidirectional):

        def init(self, *args, _init=layer.__init__, **kwargs):
            _init(self, *args, **kwargs)
            self.supports_masking = False

        monkeypatch.setattr(layer, "__init__", init)


def masked(ids):
    return keras.layers.Embedding(13, 4, mask_zero=True)(ids)


@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.layers.LSTM(3, return_sequences=True),
        lambda: keras.layers.Bidirectional(keras.layers.GRU(3, return_sequences=True)),
        lambda: keras.layers.RNN(keras.layers.GRUCell(3), return_sequences=True),
    ],
)
def test_the_simulation_drops_masks(keras_next, make):
    (ids, _), _ = batch()
    with pytest.warns(UserWarning, match="does not support masking"):
        values = make()(masked(ids))
    assert getattr(values, "_keras_mask", None) is None


@pytest.mark.parametrize("name", CELLS)
def test_outputs_and_loss_are_the_same(name, request):
    inputs, labels = batch()
    now = compiled(translation_model(name))
    expected = now(inputs)
    loss = now.evaluate(inputs, labels, batch_size=8, verbose=0)

    request.getfixturevalue("keras_next")
    later = compiled(translation_model(name))
    later.set_weights(now.get_weights())
    received = later(inputs)
    np.testing.assert_array_equal(received, expected)
    np.testing.assert_array_equal(received._keras_mask, inputs[1] != 0)
    assert later.evaluate(inputs, labels, batch_size=8, verbose=0) == loss


@pytest.mark.parametrize(
    "make",
    [
        lambda: BiEncoder(3, cell="gru", layers=2),
        lambda: BiEncoder(3, cell=keras.layers.LSTMCell(3)),
        lambda: StackedEncoder(3, layers=3),
        lambda: PyramidalEncoder(3, layers=1),
    ],
)
def test_encoders_are_the_same(make, request):
    (ids, _), _ = batch()
    embedded = masked(ids)
    now = make()
    expected = now(embedded)

    request.getfixturevalue("keras_next")
    later = make()
    later(embedded)
    later.set_weights(now.get_weights())
    received = later(embedded)
    for e, r in zip(*map(keras.tree.flatten, (expected, received)), strict=True):
        np.testing.assert_array_equal(r, e)
    np.testing.assert_array_equal(
        received.values._keras_mask, expected.values._keras_mask
    )
