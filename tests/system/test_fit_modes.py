"""`model.fit` with stock Keras losses and optimizers, in every mode Keras has."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.system import small_model as small

pytestmark = pytest.mark.system
MODES = {  # policy, options of `compile`, how near to float32
    "graph": ("float32", {"jit_compile": False}, 1e-5),
    "eager": ("float32", {"run_eagerly": True}, 1e-5),
    "xla": ("float32", {"jit_compile": True}, 1e-5),
    "float16": ("mixed_float16", {"jit_compile": False}, 2e-3),
    "bfloat16": ("mixed_bfloat16", {"jit_compile": False}, 2e-2),
}


@pytest.mark.product
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", small.CELLS)
def test_fit(name, mode):
    """The first loss is the token mean of the initial weights; then it falls."""
    policy, options, tolerance = MODES[mode]
    inputs, labels = small.batch()
    real = inputs[1] != 0
    full = small.translation_model(name)
    expected = small.token_mean(full(inputs), labels, real)
    keras.config.set_dtype_policy(policy)
    model = small.translation_model(name)
    model.set_weights(full.get_weights())
    small.compiled(model, **options)
    assert model.jit_compile is options.get("jit_compile", False)
    assert model.run_eagerly is options.get("run_eagerly", False)
    epochs = 3 if mode == "eager" else 12
    losses = model.fit(inputs, labels, batch_size=8, epochs=epochs, verbose=0)
    losses = losses.history["loss"]
    assert losses[0] == pytest.approx(expected, rel=tolerance)
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0] - 0.05
    assert {weight.dtype for weight in model.trainable_weights} == {"float32"}


@pytest.mark.slow
@pytest.mark.parametrize("name", small.CELLS)
def test_every_mode_takes_the_same_steps(name):
    inputs, labels = small.batch()
    weights, histories = small.translation_model(name).get_weights(), {}
    for mode in ("graph", "eager", "xla"):
        model = small.translation_model(name)
        model.set_weights(weights)
        small.compiled(model, **MODES[mode][1])
        history = model.fit(inputs, labels, batch_size=8, epochs=3, verbose=0)
        histories[mode] = history.history["loss"]
    for mode in ("eager", "xla"):
        np.testing.assert_allclose(histories["graph"], histories[mode], rtol=1e-4)


def test_evaluate_and_predict_skip_the_padding():
    inputs, labels = small.batch()
    accuracy = {"weighted_metrics": ["sparse_categorical_accuracy"]}
    model = small.compiled(small.translation_model("context"), **accuracy)
    logits, real = model.predict(inputs, verbose=0), inputs[1] != 0
    loss, accuracy = model.evaluate(inputs, labels, batch_size=8, verbose=0)
    assert loss == pytest.approx(small.token_mean(logits, labels, real), rel=1e-5)
    right = np.argmax(logits, axis=-1) == labels
    assert accuracy == pytest.approx(np.mean(right[real]), rel=1e-5)


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


RNN = [
    lambda: keras.layers.LSTM(3, return_sequences=True),
    lambda: keras.layers.Bidirectional(keras.layers.GRU(3, return_sequences=True)),
    lambda: keras.layers.RNN(keras.layers.GRUCell(3), return_sequences=True),
]


@pytest.mark.parametrize("make", RNN)
def test_the_simulation_drops_masks(keras_next, make):
    (ids, _), _ = small.batch()
    with pytest.warns(UserWarning, match="does not support masking"):
        values = make()(masked(ids))
    assert getattr(values, "_keras_mask", None) is None


def test_outputs_and_loss_of_a_model_are_the_same(request):
    inputs, labels = small.batch()
    now = small.compiled(small.translation_model("luong"))
    expected = now(inputs)
    loss = now.evaluate(inputs, labels, batch_size=8, verbose=0)
    request.getfixturevalue("keras_next")
    later = small.compiled(small.translation_model("luong"))
    later.set_weights(now.get_weights())
    received = later(inputs)
    np.testing.assert_array_equal(received, expected)
    np.testing.assert_array_equal(received._keras_mask, inputs[1] != 0)
    assert later.evaluate(inputs, labels, batch_size=8, verbose=0) == loss


ENCODERS = [
    lambda: ks.BiEncoder(3, cell="gru", layers=2),
    lambda: ks.BiEncoder(3, cell=keras.layers.LSTMCell(3)),
    lambda: ks.layers.StackedEncoder(3, layers=3),
    lambda: ks.layers.PyramidalEncoder(3, layers=1),
]


@pytest.mark.parametrize("make", ENCODERS)
def test_encoders_are_the_same(make, request):
    (ids, _), _ = small.batch()
    embedded, now = masked(ids), make()
    expected = now(embedded)
    request.getfixturevalue("keras_next")
    later = make()
    later(embedded)
    later.set_weights(now.get_weights())
    found = later(embedded)
    for e, r in zip(*map(keras.tree.flatten, (expected, found)), strict=True):
        np.testing.assert_array_equal(r, e)
    np.testing.assert_array_equal(found.values._keras_mask, expected.values._keras_mask)
