"""What a step waits for its input is in the profile, under the names we look for."""

import time

import keras
import numpy as np
import tensorflow as tf

from benchmarks.input_wait import STEP, WAIT, profiled

STEPS, SECONDS = 6, 0.1


def test_waits_are_seen():
    def slow(batch):
        time.sleep(SECONDS)
        return batch

    batches = np.ones((STEPS, 2, 3), "float32")
    slowed = tf.data.Dataset.from_tensor_slices(batches).map(
        lambda x: tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (2, 3))
    )
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    fast = tf.data.Dataset.from_tensor_slices(batches)
    waits = {}
    for name, inputs in (("slow", slowed), ("fast", fast)):
        dataset = inputs.map(lambda x: (x, x))
        model.fit(dataset, shuffle=False, verbose=0)
        events = profiled(
            lambda dataset=dataset: model.fit(dataset, shuffle=False, verbose=0)
        )
        assert len(events[WAIT]) == len(events[STEP]) == STEPS
        waits[name] = np.median(events[WAIT])
    assert waits["slow"] > 0.5 * SECONDS * 1e3 > waits["fast"]
