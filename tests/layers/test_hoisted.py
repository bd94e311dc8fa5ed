"""The input products before the loop: the same numbers, and fewer products in it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.parts import hoisted_recurrence as hoisted
from keras_seqattn.layers.parts.recurrence import Recurrence, run
from tests.layers.encoder_cases import MASKS, randomize, sequence

CELLS = ["simple", "gru", "gru_paper", "lstm", "layer_norm_gru", "layer_norm_lstm"]


def made(cell, backwards=False, recurrent_dropout=0.0):
    recurrence = Recurrence(
        "Owner",
        3,
        cell,
        recurrent_dropout,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
    )
    layer = recurrence.layer(backwards=backwards, dtype="float32", name="layer")
    layer.build((None, None, 4))
    randomize(layer)
    return layer


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


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["none", "holes", "empty row"])
@pytest.mark.parametrize("cell", CELLS)
def test_equals_the_stock_layer_with_gradients(cell, name, backwards, monkeypatch):
    layer, mask = made(cell, backwards), MASKS[name]
    inputs = sequence().astype("float32")
    if mask is not None:
        inputs = np.where(mask[..., None], inputs, 0)
    assert hoisted.supports(layer, training=True) is None
    ours = tf.function(lambda x: results(layer, x, mask))(inputs)
    monkeypatch.setattr(hoisted, "supports", lambda *_: "not this time")
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
    given = hoisted.supports(layer, training)
    assert given is None if reason is None else reason in given


def test_a_gpu_keeps_cudnn(monkeypatch):
    monkeypatch.setattr(keras.distribution, "list_devices", lambda kind: [kind])
    assert hoisted.supports(made("gru"), True) == "cuDNN may run it"
