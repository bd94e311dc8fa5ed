"""What the tests of the encoders share: batches, weights, the oracle's view."""

import functools

import numpy as np
import pytest

from keras_seqattn.layers import BiEncoder, PyramidalEncoder, StackedEncoder, UniEncoder
from tests.oracles import cells

MAKERS = {
    "bi": functools.partial(BiEncoder, 3, layers=2),
    "stacked": functools.partial(StackedEncoder, 3, layers=3),
    "uni": functools.partial(UniEncoder, 3, layers=2, go_backwards=True),
    "pyramidal": functools.partial(PyramidalEncoder, 3, layers=1),
}
ALL = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
MASKS = {
    "none": None,
    "right-padded": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]], bool),
    "left-padded": np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], bool),
    "holes": np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool),
    "empty row": np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool),
}

_STEPS = {
    "lstm": cells.lstm,
    "gru": cells.gru,
    "gru_paper": cells.gru_reset_before,  # its z is the paper's 1 - z
    "simple": cells.simple,
}


def sequence(batch=3, source=5, depth=4, seed=0):
    return np.random.default_rng(seed).normal(size=(batch, source, depth))


def randomize(layer, seed=1):
    """Random weights, biases too: zeros would hide a mistake."""
    random = np.random.default_rng(seed)
    layer.set_weights([0.5 * random.normal(size=w.shape) for w in layer.get_weights()])


def set_constants(encoder):
    """Keras's tests: kernel 0.01, recurrent kernel 0.02, bias 0.03 (forget gates 1)."""
    for layer in (*encoder.forward_layers, *encoder.backward_layers):
        cell = layer.cell
        cell.kernel.assign(np.full(cell.kernel.shape, 0.01))
        cell.recurrent_kernel.assign(np.full(cell.recurrent_kernel.shape, 0.02))
        bias = np.full(cell.bias.shape, 0.03)
        if getattr(cell, "unit_forget_bias", False):
            bias[cell.units : 2 * cell.units] = 1.0
        cell.bias.assign(bias)


def for_oracle(layer, cell_name, batch=3):
    """A stock layer as the oracles want it: (cell, initial state)."""
    weights = {
        name: np.asarray(getattr(layer.cell, name))
        for name in ("kernel", "recurrent_kernel", "bias")
    }
    zeros = np.zeros([batch, layer.cell.units])
    state = [zeros, zeros] if cell_name == "lstm" else zeros
    return functools.partial(_STEPS[cell_name], **weights), state


def pairs_for_oracle(bi_encoder, cell_name, batch=3):
    return [
        (for_oracle(fw, cell_name, batch), for_oracle(bw, cell_name, batch))
        for fw, bw in zip(
            bi_encoder.forward_layers, bi_encoder.backward_layers, strict=True
        )
    ]


def assert_nests_equal(received, expected, atol=1e-6):
    assert isinstance(received, list) == isinstance(expected, list)
    if isinstance(received, list):
        for r, e in zip(received, expected, strict=True):
            assert_nests_equal(r, e, atol)
    else:
        np.testing.assert_allclose(np.asarray(received), expected, rtol=0, atol=atol)
