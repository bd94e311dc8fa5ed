"""Deep output with maxout, (A.2.2) of Bahdanau et al., against NumPy."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.testing.contract import save_and_load
from tests.layers.head_cases import logits_by_hand

VOCABULARY, UNITS, DEPTH, EMBEDDING = 11, 4, 6, 5
MASK = np.array([[1, 1, 0], [1, 0, 0]], bool)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def made(pieces=2, embedding=None, **options):
    head = DeepOutputHead(
        VOCABULARY, UNITS, pieces=pieces, embedding=embedding, **options
    )
    head.build((None, None, DEPTH), (None, None, EMBEDDING))
    random = np.random.default_rng(1)
    head.set_weights([random.normal(size=w.shape) for w in head.get_weights()])
    return head


def by_hand(head, outputs, inputs):
    """t~ = g(U_o s + C_o c + V_o E y); t[j] = max over its pieces; W_o t."""
    weights = [head.from_outputs.kernel, head.from_inputs.kernel, head.from_inputs.bias]
    of_outputs, of_inputs, bias = map(np.asarray, weights)
    pieces = outputs @ of_outputs + inputs @ of_inputs + bias
    if keras.activations.serialize(head.activation) == "tanh":
        pieces = np.tanh(pieces)
    units = [
        np.max(pieces[..., head.pieces * j : head.pieces * (j + 1)], axis=-1)
        for j in range(UNITS)
    ]
    readout = np.stack(units, axis=-1)
    return logits_by_hand(head.head, readout)


@pytest.mark.parametrize("activation", [None, "tanh"])
@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_numbers(pieces, activation):
    head = made(pieces, activation=activation)
    outputs, inputs = normal(2, 3, DEPTH), normal(2, 3, EMBEDDING)
    expected = by_hand(head, outputs, inputs)
    np.testing.assert_allclose(head(outputs, inputs), expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("depth", [UNITS, EMBEDDING])
def test_tied_numbers(depth):
    head = made(embedding=keras.layers.ReversibleEmbedding(VOCABULARY, depth))
    assert (head.head.to_embedding is None) == (depth == UNITS)
    outputs, inputs = normal(2, 3, DEPTH), normal(2, 3, EMBEDDING)
    expected = by_hand(head, outputs, inputs)
    np.testing.assert_allclose(head(outputs, inputs), expected, rtol=0, atol=2e-5)


def test_pairs_are_neighbours():
    """t[j] is the larger of t~[2j-1] and t~[2j], counted from 1, as in the paper."""
    head = made()
    kernel = np.zeros((DEPTH, 2 * UNITS), "float32")
    kernel[0, 2], kernel[0, 3] = 1.0, -1.0  # unit 2 of 4: the absolute value
    head.from_outputs.set_weights([kernel])
    head.from_inputs.set_weights(
        [np.zeros((EMBEDDING, 2 * UNITS)), np.zeros(2 * UNITS)]
    )
    head.head.projection.set_weights([np.eye(UNITS, VOCABULARY)])
    head.head.bias.assign(np.zeros(VOCABULARY))
    outputs = normal(2, 3, DEPTH)
    logits = head(outputs, normal(2, 3, EMBEDDING))
    np.testing.assert_allclose(logits[..., 1], np.abs(outputs[..., 0]), atol=1e-6)
    assert not np.any(np.delete(logits, 1, axis=-1))


def test_one_piece_takes_no_maximum():
    def operations(pieces):
        head = made(pieces)
        function = tf.function(lambda outputs, inputs: head(outputs, inputs))
        arguments = tf.zeros((2, 3, DEPTH)), tf.zeros((2, 3, EMBEDDING))
        graph = function.get_concrete_function(*arguments).graph
        return {operation.type for operation in graph.get_operations()}

    assert "Max" in operations(2)
    assert "Max" not in operations(1)


def test_dropout_on_the_readout():
    """t is all ones here, and the logits are t: dropped, or 1 / 0.75."""
    head = DeepOutputHead(
        UNITS, UNITS, kernel_initializer="zeros", dropout=0.25, seed=3
    )
    head.build((None, None, DEPTH), (None, None, EMBEDDING))
    head.from_inputs.bias.assign(np.ones(2 * UNITS))
    head.head.projection.kernel.assign(np.eye(UNITS))
    outputs, inputs = normal(40, 30, DEPTH), normal(40, 30, EMBEDDING)
    np.testing.assert_array_equal(head(outputs, inputs), np.ones((40, 30, UNITS)))
    logits = np.asarray(head(outputs, inputs, training=True))
    kept = logits != 0
    np.testing.assert_allclose(logits[kept], 1 / 0.75, rtol=1e-6)
    assert abs(np.mean(kept) - 0.75) < 0.03  # 4800 draws: 0.006 is one sigma


@pytest.mark.parametrize("axes", [(2,), (2, 4), (2, 4, 3)])
def test_single_steps_beams_and_sequences_are_one(axes):
    head = made()
    outputs, inputs = normal(*axes, DEPTH), normal(*axes, EMBEDDING)
    logits = head(outputs, inputs)
    assert tuple(logits.shape) == (*axes, VOCABULARY)
    flat = head(outputs.reshape(-1, DEPTH), inputs.reshape(-1, EMBEDDING))
    np.testing.assert_allclose(np.reshape(logits, flat.shape), flat, rtol=0, atol=1e-5)


def test_logits_carry_the_mask():
    outputs, inputs = normal(2, 3, DEPTH), normal(2, 3, EMBEDDING)
    head = made()
    logits = head(outputs, inputs, outputs_mask=MASK)
    np.testing.assert_array_equal(logits._keras_mask, MASK)
    clean = np.asarray(logits)
    outputs[~MASK], inputs[~MASK] = np.nan, np.nan
    poisoned = np.asarray(head(outputs, inputs, outputs_mask=MASK))
    np.testing.assert_array_equal(poisoned[MASK], clean[MASK])
    assert np.all(np.isfinite(poisoned))


def model(embedding):
    """A language model of its own embedding: what is read is what is written."""
    ids = keras.Input((None,), dtype="int32")
    embedded = embedding(ids)
    hidden = keras.layers.GRU(DEPTH, return_sequences=True)(embedded)
    head = DeepOutputHead(VOCABULARY, UNITS, embedding=embedding)
    return keras.Model(ids, head(hidden, embedded))


IDS = np.array([[3, 4, 0], [5, 10, 2]])


def test_mask_of_the_embedding_reaches_the_logits_and_the_loss():
    embedding = keras.layers.ReversibleEmbedding(VOCABULARY, EMBEDDING, mask_zero=True)
    logits = model(embedding)(IDS)
    np.testing.assert_array_equal(logits._keras_mask, IDS != 0)


def test_still_tied_after_reload():
    tied = model(keras.layers.ReversibleEmbedding(VOCABULARY, EMBEDDING))
    reloaded = save_and_load(tied)
    embedding = next(
        layer
        for layer in reloaded.layers
        if isinstance(layer, keras.layers.ReversibleEmbedding)
    )
    assert reloaded.layers[-1].head.embedding is embedding
    assert len(reloaded.weights) == len(tied.weights)
    np.testing.assert_array_equal(reloaded(IDS), tied(IDS))


def test_int8_save_and_load():
    tied = model(keras.layers.ReversibleEmbedding(VOCABULARY, EMBEDDING))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        tied.quantize("int8")
    head = tied.layers[-1]
    assert head.from_outputs.kernel.dtype == head.from_inputs.kernel.dtype == "int8"
    reloaded = save_and_load(tied)
    assert len(reloaded.weights) == len(tied.weights)
    np.testing.assert_array_equal(reloaded(IDS), tied(IDS))


def test_parts_have_initial_values_of_their_own():
    """One initializer object serves three products: each draws for itself."""
    initializer = keras.initializers.RandomNormal()
    head = DeepOutputHead(9, 3, kernel_initializer=initializer)
    head.build((None, None, 4), (None, None, 4))
    assert head.from_outputs.kernel.shape == head.from_inputs.kernel.shape
    assert not np.allclose(head.from_outputs.kernel, head.from_inputs.kernel)
