"""The cell steps against Keras's own cells, with the same weights."""

import keras
import numpy as np
import pytest
from keras import ops, tree

from keras_seqattn.ops import cell as cells
from tests.oracles import cells as oracles

UNITS, DEPTH = 3, 4


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def weights_of(cell):
    """A Keras cell with random weights, biases too, and these weights."""
    cell.build((None, DEPTH))
    random = np.random.default_rng(1)
    cell.set_weights([random.normal(size=w.shape) for w in cell.get_weights()])
    return cell, [w.astype("float32") for w in cell.get_weights()]


def product(kernel, bias=0.0):
    return lambda x: ops.matmul(x, kernel) + bias


def close(expected, received):
    """Same structure (plain lists and tensors), same numbers."""
    assert isinstance(received, list) == isinstance(expected, (list, tuple))
    for e, r in zip(tree.flatten(expected), tree.flatten(received), strict=True):
        np.testing.assert_allclose(r, e, rtol=0, atol=2e-6)


X, H, C = normal(2, DEPTH), normal(2, UNITS, seed=2), normal(2, UNITS, seed=3)


def test_simple_is_keras():
    cell, (kernel, recurrent, bias) = weights_of(keras.layers.SimpleRNNCell(UNITS))
    expected, [state] = cell(X, [H])
    output, new = cells.simple_step(X @ kernel + bias, H, product(recurrent))
    close(expected, output)
    close(state, new)


def test_gru_is_keras_reset_after():
    cell, (kernel, recurrent, bias) = weights_of(keras.layers.GRUCell(UNITS))
    expected, [state] = cell(X, [H])
    output, new = cells.gru_step(X @ kernel + bias[0], H, product(recurrent, bias[1]))
    close(expected, output)
    close(state, new)


def test_gru_paper_is_keras_reset_before_with_the_mirrored_gate():
    """The paper's z is Keras's 1 - z: sigmoid(-a) = 1 - sigmoid(a)."""
    cell = keras.layers.GRUCell(UNITS, reset_after=False)
    cell, (kernel, recurrent, bias) = weights_of(cell)
    expected, [state] = cell(X, [H])
    projected = X @ kernel + bias
    projected[:, :UNITS] *= -1
    gates = recurrent[:, : 2 * UNITS] * np.repeat([-1, 1], UNITS).astype("float32")
    output, new = cells.gru_paper_step(
        projected, ops.array(H), product(gates), product(recurrent[:, 2 * UNITS :])
    )
    close(expected, output)
    close(state, new)


def test_gru_paper_is_the_paper():
    kernel, recurrent = normal(DEPTH, 3 * UNITS), normal(UNITS, 3 * UNITS, seed=5)
    expected = oracles.gru_paper(X, H, kernel=kernel, recurrent_kernel=recurrent)
    gates, proposal = recurrent[:, : 2 * UNITS], recurrent[:, 2 * UNITS :]
    output, new = cells.gru_paper_step(
        X @ kernel, ops.array(H), product(gates), product(proposal)
    )
    close(expected, output)
    close(expected, new)


def test_lstm_is_keras():
    cell, (kernel, recurrent, bias) = weights_of(keras.layers.LSTMCell(UNITS))
    expected, states = cell(X, [H, C])
    output, new = cells.lstm_step(X @ kernel + bias, [H, C], product(recurrent))
    close(expected, output)
    close(states, new)


STEPS = {
    "simple": (cells.simple_step, 1, 1),
    "gru": (cells.gru_step, 3, 1),
    "lstm": (cells.lstm_step, 4, 2),
}


@pytest.mark.parametrize("name", STEPS)
def test_axes_between_batch_and_depth_are_independent(name):
    """A beam: the state of each hypothesis moves alone."""
    step, gates, states = STEPS[name]
    recurrent = product(normal(UNITS, gates * UNITS, seed=7))
    projected = normal(2, 5, gates * UNITS)
    state = [ops.array(normal(2, 5, UNITS, seed=i)) for i in range(states)]
    output, new = step(projected, state if states > 1 else state[0], recurrent)
    for beam in range(5):
        alone = [s[:, beam] for s in state]
        one, last = step(
            projected[:, beam], alone if states > 1 else alone[0], recurrent
        )
        close(one, output[:, beam])
        close(last, tree.map_structure(lambda s, b=beam: s[:, b], new))


def test_activation_is_a_choice():
    """Of the candidate and the output; the gates stay sigmoids."""
    cell, (kernel, recurrent, bias) = weights_of(
        keras.layers.LSTMCell(UNITS, activation="relu")
    )
    expected, _ = cell(X, [H, C])
    projected = X @ kernel + bias
    output, _ = cells.lstm_step(projected, [H, C], product(recurrent), ops.relu)
    close(expected, output)
