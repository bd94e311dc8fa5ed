"""Saved here, loaded in a process that knows keras and keras_seqattn only."""

import subprocess
import sys
import warnings
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.system.reloaded import outputs
from tests.system.small_model import CELLS, batch, compiled, translation_model
from tests.zoo.models import MODELS, lively, pairs

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]


def trained():
    inputs, labels = batch()
    model = compiled(translation_model("bahdanau"))
    model.fit(inputs, labels, batch_size=8, verbose=0)
    return model


def half_precision():
    keras.config.set_dtype_policy("mixed_float16")
    model = translation_model("gnmt")
    keras.config.set_dtype_policy("float32")
    return model


def quantized():
    model = translation_model("luong")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    return model


MAKERS = {
    **{name: (lambda name=name: translation_model(name)) for name in CELLS},
    "trained": trained,
    "float16": half_precision,
    "int8": quantized,
}


def test_a_new_process_computes_the_same_bit_by_bit(tmp_path):
    (source, target), labels = batch()
    given = {"source": source, "target": target, "labels": labels}
    models = {name: (make(), given) for name, make in MAKERS.items()}
    zoo = {"source": pairs().source, "target": pairs().inputs}
    models |= {name: (lively(name), zoo) for name in MODELS}
    models["bahdanau2015"] = lively("bahdanau2015"), {**zoo, "longest": 8}
    for name, (model, given) in models.items():
        model.save(tmp_path / f"{name}.keras")
        expected = {f"expected_{k}": x for k, x in outputs(model, given).items()}
        np.savez(tmp_path / f"{name}.npz", **given, **expected)
    command = [sys.executable, "-m", "tests.system.reloaded", str(tmp_path)]
    how = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 240}
    result = subprocess.run(command, **how)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == sorted(models)
