"""What holds for every encoder: configurations, shapes, Functional models."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.layers.bahdanau_attention import BahdanauAttention
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from tests.layers.encoder_cases import ALL, MAKERS, MASKS, built, sequence
from tests.raised import check_error


def arrays(encoded):
    return [np.asarray(x) for x in tree.flatten(encoded)]


def assert_same(received, expected, atol=0.0):
    for a, b in zip(arrays(received), arrays(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@ALL
def test_one_trace_under_xla_serves_all_sizes(make):
    encoder, traces = built(make), []
    sizes = tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, None], tf.bool)

    @tf.function(jit_compile=True, input_signature=sizes)
    def call(inputs, mask):
        traces.append(1)
        return tuple(tree.flatten(encoder(inputs, mask=mask)))

    for batch, source in [(3, 5), (2, 1)]:
        inputs = sequence(batch=batch, source=source)
        mask = np.arange(source) < np.arange(batch)[:, None]
        assert_same(call(inputs, mask), encoder(inputs, mask=mask), 1e-6)
    assert len(traces) == 1


def like_keras_3_16(monkeypatch):
    """It sets supports_masking = False in RNN.__init__."""
    init = keras.layers.RNN.__init__

    def init_of_3_16(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self.supports_masking = False

    monkeypatch.setattr(keras.layers.RNN, "__init__", init_of_3_16)


def without_compute_mask(monkeypatch):
    monkeypatch.setattr(keras.layers.RNN, "compute_mask", lambda *args: None)


@ALL
@pytest.mark.parametrize("change", [like_keras_3_16, without_compute_mask])
def test_recurrent_layers_need_not_pass_masks_on(make, change, monkeypatch):
    inputs, mask = sequence(), MASKS["right-padded"]
    expected = built(make)(inputs, mask=mask)
    change(monkeypatch)
    received = built(make)(inputs, mask=mask)
    assert_same(received, expected)
    assert received.values._keras_mask is not None


@ALL
def test_configuration_of_a_cell_object(make):
    cells = [keras.layers.LSTMCell(2), keras.layers.GRUCell(3)]
    cell = keras.layers.StackedRNNCells(cells)
    encoder = make(cell=cell, dropout=0.25, seed=7, name="encoder")
    config = encoder.get_config()
    copy = type(encoder).from_config(config)
    assert copy.get_config() == config == encoder.get_config()
    for layer in (encoder, copy):
        layer.build((None, None, 4))
    copy.set_weights(encoder.get_weights())
    assert_same(encoder(sequence()), copy(sequence()))


@pytest.mark.parametrize(
    ("shape", "mask", "what"),
    [
        ((3, 5), None, "a sequence of the wrong rank"),
        ((3, 0, 4), None, "inputs without source positions"),
        ((3, 5, 4), np.ones([3, 6], bool), "a mask that does not fit a sequence"),
        ((3, 5, 4), np.ones([3, 5], "int32"), "a mask for a sequence that is not bool"),
    ],
)
@ALL
def test_symbolic_inputs_are_checked_too(make, shape, mask, what):
    encoder = make()
    what = f"{type(encoder).__name__} got {what}"
    check_error(lambda: encoder(keras.KerasTensor(shape), mask=mask), what)


@pytest.mark.parametrize(
    ("source", "reduced"), [(None, None), (1, 1), (7, 1), (8, 1), (9, 2)]
)
def test_shape_rounds_up(source, reduced):
    encoder = PyramidalEncoder(5, layers=3)
    shape = encoder.compute_output_shape((None, source, 4))
    assert shape.values == (None, reduced, 10)
    assert shape.mask == (None, reduced)
    assert shape.state == [[(None, 10), (None, 10)]] * 4


def test_downstream_mask_is_the_reduced_one():
    encoded = built(MAKERS["pyramidal"])(sequence(), mask=MASKS["empty row"])
    expected = [[1, 0, 0], [0, 0, 0], [1, 1, 1]]
    np.testing.assert_array_equal(encoded.mask, np.array(expected, bool))
    np.testing.assert_array_equal(encoded.values._keras_mask, encoded.mask)


IDS = np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [0, 0, 0, 0, 0]])


def functional(make, **compile_options):
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    embedded = keras.layers.Embedding(9, 4, mask_zero=True)(tokens)
    encoded = make()(embedded)
    states = [
        ZeroBridge(2)(encoded),
        CopyBridge([-1])(encoded),
        DenseBridge([2, [3, 4]])(encoded),
        DenseBridge(2, inputs="mean")(encoded),
    ]
    model = keras.Model(tokens, [encoded.values, *tree.flatten(states)])
    if compile_options:
        model.compile("adam", ["mse"] * len(model.outputs), **compile_options)
    return model


@ALL
def test_functional_equals_explicit(make):
    model = functional(make)
    embedding, encoder = (
        next(x for x in model.layers if isinstance(x, kind))
        for kind in (keras.layers.Embedding, Encoder)
    )
    expected = encoder(np.asarray(embedding(IDS)), mask=IDS != 0)
    np.testing.assert_allclose(model(IDS)[0], expected.values, rtol=0, atol=1e-6)


@pytest.mark.product
@ALL
@pytest.mark.parametrize("run_eagerly", [False, True])
def test_fit(make, run_eagerly):
    model = functional(make, jit_compile=False, run_eagerly=run_eagerly)
    before = [np.asarray(v) for v in model.trainable_variables]
    targets = [np.ones(x.shape, "float32") for x in model(IDS)]
    history = model.fit(IDS, targets, epochs=2, verbose=0)
    losses = history.history["loss"]
    assert np.isfinite(losses).all() and losses[1] < losses[0]
    for old, variable in zip(before, model.trainable_variables, strict=True):
        assert not np.array_equal(old, variable), variable.path


@pytest.mark.parametrize("explicit", [False, True])
def test_mask_reaches_attention(explicit):
    tokens = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(9, 4, mask_zero=not explicit)(tokens)
    mask = {"mask": keras.ops.not_equal(tokens, 0)} if explicit else {}
    encoded = BiEncoder(3)(embedded, **mask)
    query = keras.Input((2, 6))
    outputs = BahdanauAttention(4)(query, encoded.values, return_attention_scores=True)
    model = keras.Model([tokens, query], outputs)
    _, alignment = model([IDS[:2], np.ones([2, 2, 6])])
    real = np.broadcast_to((IDS[:2] != 0)[:, None], alignment.shape)
    assert not np.any(np.asarray(alignment)[~real])
    np.testing.assert_allclose(np.sum(alignment, axis=-1), 1, atol=1e-6)
