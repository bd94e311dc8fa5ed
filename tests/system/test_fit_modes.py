"""`model.fit` with stock Keras losses and optimizers, in every mode Keras has."""

import keras
import numpy as np
import pytest

from tests.system.small_model import (
    CELLS,
    batch,
    compiled,
    token_mean,
    translation_model,
)

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
@pytest.mark.parametrize("name", CELLS)
def test_fit(name, mode):
    """The first loss is the token mean of the initial weights; then it falls."""
    policy, options, tolerance = MODES[mode]
    inputs, labels = batch()
    real = inputs[1] != 0
    full = translation_model(name)
    expected = token_mean(full(inputs), labels, real)

    keras.config.set_dtype_policy(policy)
    model = translation_model(name)
    model.set_weights(full.get_weights())
    compiled(model, **options)
    assert model.jit_compile is options.get("jit_compile", False)
    assert model.run_eagerly is options.get("run_eagerly", False)
    epochs = 3 if mode == "eager" else 12
    losses = model.fit(inputs, labels, batch_size=8, epochs=epochs, verbose=0)
    losses = losses.history["loss"]
    assert losses[0] == pytest.approx(expected, rel=tolerance)
    assert np.all(np.isfinite(losses)) and losses[-1] < losses[0] - 0.05
    assert {weight.dtype for weight in model.trainable_weights} == {"float32"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_every_mode_takes_the_same_steps(name):
    """Not the first loss only: three steps on, float32 is float32 in every mode."""
    inputs, labels = batch()
    weights, histories = translation_model(name).get_weights(), {}
    for mode in ("graph", "eager", "xla"):
        model = translation_model(name)
        model.set_weights(weights)
        compiled(model, **MODES[mode][1])
        history = model.fit(inputs, labels, batch_size=8, epochs=3, verbose=0)
        histories[mode] = history.history["loss"]
    np.testing.assert_allclose(histories["graph"], histories["eager"], rtol=1e-4)
    np.testing.assert_allclose(histories["graph"], histories["xla"], rtol=1e-4)


def test_evaluate_and_predict_agree_with_fit():
    inputs, labels = batch()
    model = compiled(translation_model("luong"))
    logits = model.predict(inputs, verbose=0)
    expected = token_mean(logits, labels, inputs[1] != 0)
    evaluated = model.evaluate(inputs, labels, batch_size=8, verbose=0)
    assert evaluated == pytest.approx(expected, rel=1e-5)


def test_stock_accuracy_skips_the_padding():
    inputs, labels = batch()
    model = translation_model("context")
    model.compile(
        "adam",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["sparse_categorical_accuracy"],
    )
    real = inputs[1] != 0
    right = np.argmax(model.predict(inputs, verbose=0), axis=-1) == labels
    _, accuracy = model.evaluate(inputs, labels, batch_size=8, verbose=0)
    assert accuracy == pytest.approx(np.mean(right[real]), rel=1e-5)
