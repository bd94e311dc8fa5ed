"""Training, metrics and validation under `MirroredStrategy`: two replicas."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]

# Logical devices must be made before TensorFlow starts: a process of its own.
START = """
import sys

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
halves = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, halves)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
"""

TRAINING = """
from tests.system.small_model import batch, compiled, translation_model

# Both replicas get as many real tokens, so that the mean of their means is the mean.
inputs, labels = batch(lengths=[1, 6, 3, 4, 6, 1, 4, 3])
keras.utils.set_random_seed(1)
alone = compiled(translation_model(sys.argv[1]), run_eagerly=True)  # nothing to trace
with strategy.scope():
    model = compiled(translation_model(sys.argv[1]))
model.set_weights(alone.get_weights())
losses = [
    m.fit(inputs, labels, batch_size=8, epochs=2, shuffle=False, verbose=0)
    .history["loss"]
    for m in (alone, model)
]
np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
for weight in model.trainable_weights:
    copies = strategy.experimental_local_results(weight.value)
    np.testing.assert_array_equal(*[copy.numpy() for copy in copies])
"""

METRICS = """
import keras_seqattn as ks
from tests.callbacks.translators import Scripted, validation
from tests.metrics.test_token_metrics import model


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


def run(code, *arguments):
    command = [sys.executable, "-c", START + code, *map(str, arguments)]
    how = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 600}
    result = subprocess.run(command, **how)
    assert result.returncode == 0, result.stderr[-3000:]


SLOW = [pytest.param(x, marks=pytest.mark.slow) for x in ("luong", "gnmt", "context")]


@pytest.mark.parametrize("name", ["bahdanau", *SLOW])
def test_two_replicas_train_as_one(name):
    run(TRAINING, name)


@pytest.mark.slow
def test_metrics_and_validation_of_two_replicas(tmp_path):
    run(METRICS, tmp_path)
