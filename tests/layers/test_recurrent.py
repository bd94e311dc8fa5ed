"""Encoders own recurrent layers of Keras, run under masks that cuDNN takes."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.parts import run_recurrent
from keras_seqattn.layers.parts.recurrence import Recurrence
from keras_seqattn.layers.parts.run_recurrent import run, state_size
from tests.layers.encoder_cases import MASKS, randomize, sequence
from tests.oracles.alignment import sigmoid


def make(cell, backwards=False, recurrent_dropout=0.0):
    names = {"kernel": "glorot_uniform", "recurrent": "orthogonal", "bias": "zeros"}
    initializers = {f"{name}_initializer": kind for name, kind in names.items()}
    recurrence = Recurrence("Owner", 3, cell, recurrent_dropout, **initializers)
    return recurrence.layer(backwards=backwards, dtype="float32", name="layer")


def made(*args, **options):
    """The layer with random weights."""
    layer = make(*args, **options)
    layer.build((None, None, 4))
    randomize(layer)
    return layer


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


STACK = [keras.layers.LSTMCell(2), keras.layers.GRUCell(3)]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("lstm", [3, 3]),
        ("gru", 3),
        (keras.layers.LSTMCell(3), [3, 3]),
        (keras.layers.StackedRNNCells(STACK), [[2, 2], 3]),
    ],
)
def test_state_has_the_structure_of_the_cell(cell, expected):
    layer = make(cell)
    _, state = run(layer, sequence(), MASKS["empty row"])
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
    run(make("gru"), sequence(), MASKS[name])
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
    inputs, mask = sequence(), MASKS[name]
    if mask is not None:
        inputs = np.where(mask[..., None], inputs, 0)
    layer = made("lstm", backwards)
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
    for received, wanted in zip(state, expected_state, strict=True):
        np.testing.assert_allclose(received, wanted, atol=1e-6)


CELLS = ["simple", "gru", "gru_paper", "lstm", "layer_norm_gru", "layer_norm_lstm"]


def results(layer, inputs, mask):
    """Values, state and gradients of something that depends on both."""
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        values, state = run(layer, inputs, mask)
        parts = [values, *keras.tree.flatten(state)]
        loss = sum(
            tf.reduce_sum(tf.sin(part * (i + 1))) for i, part in enumerate(parts)
        )
    weights = [v.value for v in layer.trainable_variables]
    return [*parts, *tape.gradient(loss, [inputs, *weights])]


@pytest.mark.product
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["none", "holes", "empty row"])
@pytest.mark.parametrize("cell", CELLS)
def test_equals_the_stock_layer_with_gradients(cell, name, backwards, monkeypatch):
    layer, mask = made(cell, backwards), MASKS[name]
    inputs = sequence()
    if mask is not None:
        inputs = np.where(mask[..., None], inputs, 0)
    assert run_recurrent.reason_to_use_keras(layer, training=True) is None
    ours = tf.function(lambda x: results(layer, x, mask))(inputs)
    monkeypatch.setattr(
        run_recurrent, "reason_to_use_keras", lambda *_: "not this time"
    )
    for fast, stock in zip(ours, results(layer, inputs, mask), strict=True):
        np.testing.assert_allclose(fast, stock, atol=1e-5 * np.abs(stock).max())


@pytest.mark.parametrize("cell", CELLS)
def test_the_loop_multiplies_by_the_state_only(cell):
    layer = made(cell)
    graph = tf.function(lambda x: run(layer, x)).get_concrete_function(
        tf.TensorSpec([None, None, 4])
    )
    [body] = [
        f
        for f in graph.graph.as_graph_def().library.function
        if any(op.op == "TensorListSetItem" for op in f.node_def)
    ]
    products = [op for op in body.node_def if "MatMul" in op.op]
    assert len(products) == (2 if cell == "gru_paper" else 1)


@pytest.mark.parametrize(
    ("layer", "training", "reason"),
    [
        (made("lstm", recurrent_dropout=0.5), True, "masks of its dropout"),
        (made("lstm", recurrent_dropout=0.5), False, None),
        (made(keras.layers.GRUCell(3)), True, None),
        (made(keras.layers.GRUCell(3, activation="relu")), True, "other activations"),
        (made(keras.layers.GRUCell(3, use_bias=False)), True, "no bias"),
        (
            made(keras.layers.StackedRNNCells([keras.layers.GRUCell(3)])),
            True,
            "StackedRNNCells may do anything",
        ),
        (
            keras.layers.GRU(3, return_sequences=True, return_state=True),
            False,
            "no weights yet",
        ),
    ],
)
def test_when_the_layer_runs_itself(layer, training, reason):
    given = run_recurrent.reason_to_use_keras(layer, training)
    assert given is None if reason is None else reason in given


def test_a_gpu_keeps_cudnn(monkeypatch):
    monkeypatch.setattr(keras.distribution, "list_devices", lambda kind: [kind])
    assert run_recurrent.reason_to_use_keras(made("gru"), True) == "cuDNN may run it"
