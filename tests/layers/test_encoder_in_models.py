"""Encoders in Functional models: masks, fit, a new process."""

import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import tree

from keras_seqattn.layers.bridge import CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.encoder import Encoder
from tests.layers.encoder_cases import ALL, MAKERS


def functional(make, **compile_options):
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    embedded = keras.layers.Embedding(9, 4, mask_zero=True)(tokens)
    encoded = make()(embedded)
    states = [
        ZeroBridge(2)(encoded),
        CopyBridge([-1])(encoded),
        DenseBridge([2, [3, 4]])(encoded),
        DenseBridge(2, inputs="mean")(encoded),
    ]
    model = keras.Model(tokens, [encoded.values, *tree.flatten(states)])
    if compile_options:
        model.compile("adam", ["mse"] * len(model.outputs), **compile_options)
    return model


IDS = np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [0, 0, 0, 0, 0]])


@ALL
def test_functional_equals_explicit(make):
    model = functional(make)
    embedding, encoder = (
        next(x for x in model.layers if isinstance(x, kind))
        for kind in (keras.layers.Embedding, Encoder)
    )
    expected = encoder(np.asarray(embedding(IDS)), mask=IDS != 0)
    np.testing.assert_allclose(model(IDS)[0], expected.values, rtol=0, atol=1e-6)


@pytest.mark.product
@ALL
@pytest.mark.parametrize(
    "options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=str
)
def test_fit(make, options):
    model = functional(make, **{"jit_compile": False, **options})
    before = [np.asarray(v) for v in model.trainable_variables]
    targets = [np.ones(x.shape, "float32") for x in model(IDS)]
    history = model.fit(IDS, targets, epochs=2, verbose=0)
    losses = history.history["loss"]
    assert np.isfinite(losses).all() and losses[1] < losses[0]
    assert model.jit_compile == options.get("jit_compile", False)
    moved = [
        not np.array_equal(a, v)
        for a, v in zip(before, model.trainable_variables, strict=True)
    ]
    assert all(moved)


LOAD = """
import sys
import keras, numpy as np
import keras_seqattn
folder = sys.argv[1]
with np.load(folder + "/outputs.npz") as saved:
    for name in sys.argv[2:]:
        model = keras.models.load_model(f"{folder}/{name}.keras")
        for i, output in enumerate(model(saved["ids"])):
            np.testing.assert_array_equal(output, saved[f"{name}{i}"])
"""


@pytest.mark.system
def test_loads_in_a_new_process(tmp_path):
    saved = {"ids": IDS}
    for name, make in MAKERS.items():
        model = functional(make)
        model.save(tmp_path / f"{name}.keras")
        saved |= {f"{name}{i}": np.asarray(x) for i, x in enumerate(model(IDS))}
    np.savez(tmp_path / "outputs.npz", **saved)
    command = [sys.executable, "-c", LOAD, str(tmp_path), *MAKERS]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
