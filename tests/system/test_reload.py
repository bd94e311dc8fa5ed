"""Saved here, loaded in a process that knows keras and keras_seqattn only."""

import subprocess
import sys
import warnings
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.system.small_model import CELLS, batch, compiled, translation_model

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]

LOAD = """
import sys
from pathlib import Path

import keras
import keras_seqattn
import numpy as np

folder = Path(sys.argv[1])
for path in sorted(folder.glob("*.keras")):
    model = keras.models.load_model(path)
    saved = np.load(path.with_suffix(".npz"))
    inputs = [saved["source"], saved["target"]]
    logits = model(inputs)
    received = np.asarray(keras.ops.convert_to_numpy(logits))
    mask = np.asarray(logits._keras_mask)
    if not np.array_equal(received.view("uint8"), saved["logits"].view("uint8")):
        worst = np.max(np.abs(received.astype("float32") - saved["logits"]))
        sys.exit(f"{path.stem}: not equal bit by bit, {worst}")
    if not np.array_equal(mask, saved["target"] != 0):
        sys.exit(f"{path.stem}: the mask is lost")
    if "loss" in saved:
        loss = model.evaluate(inputs, saved["labels"], batch_size=8, verbose=0)
        if loss != saved["loss"]:
            sys.exit(f"{path.stem}: loss {loss} after {saved['loss']}")
        model.fit(inputs, saved["labels"], batch_size=8, verbose=0)
    print(path.stem)
"""


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


def test_new_process_gives_equal_outputs(tmp_path):
    inputs, labels = batch()
    for name, make in MAKERS.items():
        model = make()
        saved = {"source": inputs[0], "target": inputs[1], "labels": labels}
        saved["logits"] = keras.ops.convert_to_numpy(model(inputs))
        if model.compiled:
            saved["loss"] = model.evaluate(inputs, labels, batch_size=8, verbose=0)
        model.save(tmp_path / f"{name}.keras")
        np.savez(tmp_path / f"{name}.npz", **saved)
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == sorted(MAKERS)
