"""Metrics and validation under `MirroredStrategy`, on two logical CPUs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Logical devices must be made before TensorFlow starts: a process of its own.
MIRRORED = """
import sys

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
halves = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, halves)

import keras_seqattn as ks
from tests.metrics.test_token_metrics import model
from tests.callbacks.translators import Scripted, validation

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def compiled():
    keras.utils.set_random_seed(1)
    made = model()
    made.build((None, None))
    loss = keras.losses.SparseCategoricalCrossentropy(True)
    metrics = [ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()]
    made.compile("sgd", loss, weighted_metrics=metrics)
    return made


rng = np.random.default_rng(0)
ids, labels = rng.integers(1, 6, size=(2, 8, 5))
ids[:3, 2:] = 0  # one replica has fewer real tokens than the other
weights = rng.random((8, 5)).astype("float32")
alone = compiled()
with strategy.scope():
    together = compiled()
    optimizer = keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
    translator = Scripted(3, 5, 4, 9, optimizer=optimizer)
together.set_weights(alone.get_weights())
options = {"sample_weight": weights, "batch_size": 4, "return_dict": True, "verbose": 0}
one, two = (m.evaluate(ids, labels, **options) for m in (alone, together))
for name in ("token_accuracy", "perplexity"):
    np.testing.assert_allclose(one[name], two[name], rtol=1e-6)

folder = sys.argv[1]
callback = validation(translator, folder=f"{folder}/run", log_dir=folder, average=2)
x = np.ones((2, 1))
translator.model.fit(x, x, batch_size=2, epochs=3, callbacks=[callback], verbose=0)
assert translator.seen == [1.0, 1.5, 2.25, 1.875], translator.seen
assert translator.weight == 1.875 and callback.best["step"] == 3
"""


@pytest.mark.slow
@pytest.mark.system
def test_two_replicas(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MIRRORED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
