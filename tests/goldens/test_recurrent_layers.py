"""Published values of recurrent layers, with the cells inside the decoders.

keras-team/keras, keras/src/layers/rnn: gru_test.py at 03313da2, lstm_test.py at
12ada9a3, rnn_test.py at v3.15.1. A decoder without attention is a recurrent layer; the
encoders meet these values in tests/layers.
"""

import keras
import numpy as np
import pytest

import keras_seqattn as ks

LSTM_MASK = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)
MEMORY = np.ones([1, 1, 1], dtype="float32")  # nothing is read from it


def arange(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def constant_decoder(units, cell, depth, z=1.0):
    """Keras's tests: kernel 0.01, recurrent kernel 0.02, bias 0.03 (forget gate 1).

    z multiplies the weights of the first gate: in a GRU, -1 exchanges z and 1 - z.
    """
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(units, cell=cell))
    decoder.build((None, None, depth), (None, None, 1))
    (part,) = decoder.cell.recurrence.cells

    def fill(weight, value, forget=None):
        filled = np.full(weight.shape, value)
        filled[..., :units] *= z
        if forget is not None:
            filled[units : 2 * units] = forget
        weight.assign(filled)

    fill(part.input_kernel.kernel, 0.01)
    fill(part.input_kernel.bias, 0.03, forget=1.0 if cell == "lstm" else None)
    fill(part.recurrent_kernel.kernel, 0.02)
    if cell == "gru":
        fill(part.recurrent_kernel.bias, 0.03)
    if cell == "gru_paper":  # the candidate's kernel stands alone
        part.proposal_kernel.kernel.assign(np.full([units, units], 0.02))
    return decoder


def run(decoder, inputs, state=None, mask=None):
    """Outputs, and the last state in Keras's structure."""
    batch = len(inputs)
    if state is None:
        sizes = decoder.cell.state_size
        state = keras.tree.map_structure(lambda n: np.zeros([batch, n]), sizes)
    outputs, state = decoder(
        inputs,
        np.repeat(MEMORY, batch, axis=0),
        initial_state=state,
        inputs_mask=mask,
        return_state=True,
    )
    return outputs, state.recurrent


def test_lstm_masking():
    # lstm_test.test_masking, with zero_output_for_mask.
    outputs, (h, _) = run(
        constant_decoder(2, "lstm", 3), arange(2, 4, 3), mask=LSTM_MASK
    )
    expected = [[0.01588910, 0.05552048, 0.11755939, 0], [0.14185596, 0.28556206, 0, 0]]
    for unit in range(2):
        np.testing.assert_allclose(outputs[..., unit], expected, rtol=0, atol=1e-6)
        last = [0.11755939, 0.28556206]
        np.testing.assert_allclose(h[:, unit], last, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (1, [[0.20574439, 0.3558822], [0.64930826, 0.66276]]),
        (-1, [[0.13281618, 0.2790356], [0.5839337, 0.5992567]]),  # go_backwards
    ],
)
def test_lstm_pass_initial_state(order, expected):
    decoder = constant_decoder(2, "lstm", 3)
    state = [arange(2, 2), arange(2, 2)]
    outputs, (h, _) = run(decoder, arange(2, 4, 3)[:, ::order], state)
    np.testing.assert_allclose(outputs[:, -1], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(outputs[:, -1], h)


@pytest.mark.parametrize(
    ("cell", "z", "expected"),
    [
        ("gru", 1.0, [0.5217289, 0.6371659, 0.39384964]),  # reset_after=True
        # reset_after=False. Keras's z is the paper's 1 - z: sigmoid(-a).
        ("gru_paper", -1.0, [0.51447755, 0.6426879, 0.40208298]),
    ],
)
def test_gru_correctness(cell, z, expected):
    # gru_test.test_correctness.
    decoder = constant_decoder(3, cell, 4, z)
    outputs, state = run(decoder, arange(3, 6, 4))
    for unit in range(3):
        np.testing.assert_allclose(state[:, unit], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(outputs[:, -1], state)


def test_rnn_masking():
    # rnn_test.test_masking: h = x W + h U, all ones; zero in the padding is ours.
    cell = keras.layers.SimpleRNNCell(2, activation="linear")
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(2, cell=cell))
    decoder.build((None, None, 3), (None, None, 1))
    cell = decoder.cell.recurrence.cells[0].cell  # the decoder's copy
    cell.kernel.assign(np.ones([3, 2]))
    cell.recurrent_kernel.assign(np.ones([2, 2]))
    outputs, state = run(decoder, arange(2, 4, 3), mask=LSTM_MASK)
    expected = [[3, 18, 57, 0], [39, 126, 0, 0]]
    np.testing.assert_array_equal(outputs[..., 0], expected)
    np.testing.assert_array_equal(state, [[57, 57], [126, 126]])
