"""Training does not change frozen layers, whatever the optimizer does."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import zoo
from keras_seqattn.models.frozen_layers import frozen
from keras_seqattn.models.layer_paths import layer_paths, own_weights
from keras_seqattn.translator import recommended_model

MODELS = {
    "bahdanau2015": lambda: zoo.bahdanau2015("small", units=4),
    "recommended_model": lambda: recommended_model(16, 16, units=4),
    "vaswani2017": lambda: zoo.vaswani2017("small", units=8, layers=1),
    "gnmt2016": lambda: zoo.gnmt2016("small", units=4),
}
SOME = ["encoder", "source_embedding", "decoder/cell/attention"]
CASES = [("bahdanau2015", SOME)]
CASES += [
    pytest.param(name, names, marks=pytest.mark.slow)
    for name, names in {
        "bahdanau2015": ["decoder"],
        "recommended_model": ["decoder", "target_embedding"],
        "vaswani2017": ["decoder", "source_embedding"],
        "gnmt2016": ["encoder", "head"],
    }.items()
]


@pytest.mark.parametrize("name, names", CASES)
def test_frozen_weights_stay(name, names):
    """With weight decay and averages of weights; the others learn."""
    model = MODELS[name]()
    draw = np.random.default_rng(0)
    model.set_weights([w + draw.normal(0, 0.1, w.shape) for w in model.get_weights()])
    start = model.get_weights()
    rate = {"learning_rate": 0.1, "weight_decay": 0.1}
    ids = draw.integers(4, 16, (4, 6))
    with frozen(model, names):
        model.compile(
            keras.optimizers.AdamW(**rate, use_ema=True, ema_momentum=0.5), loss="auto"
        )
        inputs = {"source": ids, "target": ids[:, :-1]}
        model.fit(inputs, ids[:, 1:], epochs=2, batch_size=2, verbose=0)
        layers = layer_paths(model)
        held = {id(w) for each in names for w in layers[each].weights}
    pairs = zip(model.weights, start, model.get_weights(), strict=True)
    for weight, before, after in pairs:
        assert np.array_equal(before, after) == (id(weight) in held), weight.path
    assert len(model.trainable_weights) == len(model.weights)


@pytest.mark.parametrize("name", MODELS)
def test_every_weight_has_a_path(name):
    model = MODELS[name]()
    layers = layer_paths(model)
    held = {id(w) for layer in layers.values() for w in own_weights(layer)}
    assert held == {id(w) for w in model.weights}
    assert {"source_embedding", "encoder", "decoder", "head"} <= {*layers}


def test_paths_of_a_functional_model():
    inner = keras.Sequential([keras.layers.Dense(2, name="first")], name="inner")
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1, name="last")(inner(inputs)))
    ks.models.freeze(model, ["inner/first"])
    assert {"inner", "inner/first", "last"} <= {*layer_paths(model)}
    assert len(model.trainable_weights) == 2


def test_a_layer_that_was_frozen_before_stays_frozen():
    model = MODELS["bahdanau2015"]()
    model.source_embedding.trainable = False
    with frozen(model, ["encoder"]) as thawed:
        assert not model.encoder.trainable_weights
        with thawed():
            assert model.encoder.trainable_weights
            assert not model.source_embedding.trainable_weights
        assert not model.encoder.trainable_weights
    assert model.encoder.trainable_weights
    assert not model.source_embedding.trainable_weights
