"""Activations; tests/oracles compares the steps with the equations."""

import numpy as np
from keras import ops

from keras_seqattn.ops import cell as cells

UNITS = 3


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_activation_is_that_of_the_candidate_and_the_output():
    """The gates stay sigmoids."""
    gates, c = normal(2, 4 * UNITS), ops.array(normal(2, UNITS, seed=3))
    output, _ = cells.lstm_step(gates, [0.0, c], 0.0, ops.relu)
    i, f, g, o = np.split(gates, 4, axis=-1)
    i, f, o = (1.0 / (1.0 + np.exp(-gate)) for gate in (i, f, o))
    expected = o * np.maximum(f * c + i * np.maximum(g, 0.0), 0.0)
    np.testing.assert_allclose(output, expected, rtol=0, atol=2e-6)
