"""`fit` under `MirroredStrategy`: two replicas, as on a machine with two GPUs."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]
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

from tests.system.small_model import batch, compiled, translation_model

# Both replicas get as many real tokens, so that the mean of their means is the mean.
inputs, labels = batch(lengths=[1, 6, 3, 4, 6, 1, 4, 3])
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
for name in sys.argv[1:]:
    keras.utils.set_random_seed(1)
    alone = compiled(translation_model(name))
    with strategy.scope():
        model = compiled(translation_model(name))
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
    print(name)
"""


def run(*names):
    command = [sys.executable, "-c", MIRRORED, *names]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.split() == list(names)


def test_two_replicas_train_as_one():
    run("bahdanau")


@pytest.mark.slow
def test_two_replicas_train_every_cell():
    run("luong", "gnmt", "context")
