import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.parts.recurrence import Recurrence, run, state_size
from tests.layers.encoder_cases import MASKS, assert_nests_equal, randomize, sequence
from tests.oracles.alignment import sigmoid


def recurrence(cell, units=3, **initializers):
    defaults = {
        "kernel_initializer": "glorot_uniform",
        "recurrent_initializer": "orthogonal",
        "bias_initializer": "zeros",
    }
    return Recurrence("Owner", units, cell, **{**defaults, **initializers})


def make(cell, backwards=False):
    return recurrence(cell).layer(backwards=backwards, dtype="float32", name="layer")


@pytest.mark.parametrize(
    ("cell", "stock", "reset_after"),
    [
        ("lstm", keras.layers.LSTM, None),
        ("gru", keras.layers.GRU, True),
        ("gru_paper", keras.layers.GRU, False),
        ("simple", keras.layers.SimpleRNN, None),
        (keras.layers.LSTMCell(3), keras.layers.RNN, None),
    ],
)
def test_layers_are_stock(cell, stock, reset_after):
    layer = make(cell)
    assert type(layer) is stock
    assert getattr(layer, "reset_after", None) == reset_after


@pytest.mark.parametrize(
    "made_by",
    [
        recurrence("gru", kernel_initializer=keras.initializers.GlorotUniform()),
        recurrence(keras.layers.GRUCell(3)),
    ],
)
def test_every_layer_has_its_own_cell_and_values(made_by):
    a, b = (made_by.layer(dtype="float32", name=name) for name in "ab")
    for layer in (a, b):
        layer.build((None, None, 4))
    assert a.cell is not b.cell
    assert not np.allclose(a.cell.kernel, b.cell.kernel)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("lstm", [3, 3]),
        ("gru", 3),
        (keras.layers.LSTMCell(3), [3, 3]),
        (
            keras.layers.StackedRNNCells(
                [keras.layers.LSTMCell(2), keras.layers.GRUCell(3)]
            ),
            [[2, 2], 3],
        ),
    ],
)
def test_state_has_the_structure_of_the_cell(cell, expected):
    layer = make(cell)
    _, state = run(layer, sequence().astype("float32"), MASKS["empty row"])
    sizes = keras.tree.map_structure(lambda x: x.shape[-1], state)
    assert sizes == state_size(layer) == expected
    assert not any(np.any(s[1]) for s in keras.tree.flatten(state))


@pytest.mark.parametrize("name", ["none", "right-padded", "empty row"])
def test_the_stock_layer_gets_a_mask_that_cudnn_takes(name, monkeypatch):
    seen = []
    stock_call = keras.layers.GRU.call

    def call(self, sequences, initial_state=None, mask=None, training=False):
        seen.append(mask)
        return stock_call(self, sequences, initial_state, mask, training)

    monkeypatch.setattr(keras.layers.GRU, "call", call)
    run(make("gru"), sequence().astype("float32"), MASKS[name])
    (mask,) = seen
    if name == "none":
        assert mask is None  # the unmasked kernels are faster
        return
    lengths = np.sum(mask, axis=1)
    assert lengths.min() >= 1
    np.testing.assert_array_equal(mask, np.arange(5) < lengths[:, None])


def cudnn_lstm(input, input_h, input_c, params, sequence_lengths, **_):
    """What the fused kernel computes: steps within the lengths, zeros after them."""
    x, h, c = (t.numpy() for t in (input, input_h[:, 0], input_c[:, 0]))
    lengths, params = sequence_lengths.numpy(), params.numpy()
    (batch, source, depth), units = x.shape, h.shape[-1]
    kernels, rest = np.split(params, [4 * units * depth])
    recurrent, biases = np.split(rest, [4 * units * units])
    W = kernels.reshape(4, units, depth)
    U = recurrent.reshape(4, units, units)
    b = biases.reshape(2, 4, units).sum(axis=0)
    outputs = np.zeros([batch, source, units], x.dtype)
    for n in range(batch):
        if lengths[n] < 1:
            raise ValueError("CUDNN_STATUS_BAD_PARAM")
        for t in range(lengths[n]):
            i, f, g, o = W @ x[n, t] + U @ h[n] + b
            c[n] = sigmoid(f) * c[n] + sigmoid(i) * np.tanh(g)
            h[n] = outputs[n, t] = sigmoid(o) * np.tanh(c[n])
    outputs, h, c = (tf.constant(a) for a in (outputs, h[:, None], c[:, None]))
    return outputs, h, c, None, None


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["none", "right-padded", "empty row"])
def test_fused_kernel_gives_the_same(name, backwards, monkeypatch):
    # There is no GPU here: Keras is told that there is one, and gets a stand-in with
    # the kernel's contract. This checks what we hand over and what we take back.
    inputs, mask = sequence().astype("float32"), MASKS[name]
    if mask is not None:
        inputs = np.where(mask[..., None], inputs, 0)
    layer = make("lstm", backwards)
    layer.build(inputs.shape)
    randomize(layer)
    expected, expected_state = run(layer, inputs, mask)
    calls = []

    def kernel(**kwargs):
        calls.append(kwargs)
        return cudnn_lstm(**kwargs)

    keras_rnn = sys.modules["keras.src.backend.tensorflow.rnn"]
    monkeypatch.setattr(keras_rnn, "_is_gpu_available", lambda: True)
    monkeypatch.setattr(keras.distribution, "list_devices", lambda kind: [kind])
    monkeypatch.setattr(tf.raw_ops, "CudnnRNNV3", kernel)
    values, state = run(layer, inputs, mask)
    assert len(calls) == 1
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert_nests_equal(state, [np.asarray(s) for s in expected_state])


def ones_cell():
    @keras.saving.register_keras_serializable(package="test")
    class OnesCell(keras.layers.Layer):
        state_size = output_size = 2

        def call(self, inputs, states):
            total = keras.ops.sum(inputs, axis=-1, keepdims=True)
            past = keras.ops.sum(states[0], axis=-1, keepdims=True)
            new = keras.ops.repeat(total + past, 2, axis=-1)
            return new, [new]

    return OnesCell()


def test_golden_rnn_masking():
    # keras rnn_test.test_masking; zero in the padding is our convention.
    inputs = np.arange(24.0, dtype="float32").reshape(2, 4, 3)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
    layer = recurrence(ones_cell(), units=2).layer(dtype="float32", name="ones")
    values, state = run(layer, inputs, mask)
    np.testing.assert_array_equal(values[..., 0], [[3, 18, 57, 0], [39, 126, 0, 0]])
    np.testing.assert_array_equal(state, [[57, 57], [126, 126]])


@pytest.mark.parametrize(
    ("cell", "initializers", "message"),
    [
        (
            "lstmm",
            {},
            "Owner got an unknown cell. Expected one of gru, gru_paper, "
            "layer_norm_gru, layer_norm_lstm, lstm, simple, received 'lstmm'. Use "
            "'lstm', the nearest.",
        ),
        (
            7,
            {},
            "Owner got an unusable cell. Expected one of ['gru', 'gru_paper', "
            "'layer_norm_gru', 'layer_norm_lstm', 'lstm', 'simple'] or a Keras RNN "
            "cell object, received cell=7. Pass e.g. "
            'cell="lstm" or cell=keras.layers.LSTMCell(units).',
        ),
        (
            keras.layers.LSTMCell(4),
            {},
            "Owner got a cell of another size than its own. Expected one with "
            "output_size=3, received LSTMCell with output_size=4. Give both the same "
            "number of units.",
        ),
        (
            keras.layers.LSTMCell(3),
            {"kernel_initializer": "zeros"},
            "Owner got kernel_initializer beside a cell object. Expected the default "
            "'glorot_uniform', received ",
        ),
    ],
)
def test_messages(cell, initializers, message):
    with pytest.raises(ValueError) as error:
        recurrence(cell, **initializers)
    assert message in str(error.value)
