"""Where weights start: biases, forget gates, initializers that weights share."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.layers.encoder_cases import sequence
from tests.layers.mechanism_cases import additive

QUERY, VALUE = (None, None, 4), (None, None, 6)


def built(layer, *shapes):
    layer.build(*shapes)
    return layer


BIASES = {
    "coverage": lambda: built(ks.layers.CoverageAttention(3), QUERY, VALUE).bias,
    "location": lambda: (
        built(ks.layers.LocationSensitiveAttention(3), QUERY, VALUE).bias
    ),
    "head": lambda: built(ks.layers.OutputHead(9), QUERY).bias,
}


@pytest.mark.parametrize("name", BIASES)
def test_biases_start_at_zero(name):
    assert not np.any(BIASES[name]())


def test_score_bias_is_where_r_starts():
    layer = ks.layers.MonotonicAttention(additive(), score_bias=-4.0)
    built(layer, QUERY, VALUE)
    assert float(layer.r) == -4.0
    assert any(weight is layer.r for weight in layer.trainable_weights)


def context_cell(cell):
    """The recurrent cell inside of a decoder's cell."""
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(3, cell))
    return built(decoder, QUERY, VALUE).cell.recurrence.cells[0]


@pytest.mark.parametrize(
    ("name", "of_keras"),
    [("lstm", keras.layers.LSTMCell), ("layer_norm_lstm", ks.layers.LayerNormLSTMCell)],
)
def test_lstm_starts_with_open_forget_gates(name, of_keras):
    cell, stock = context_cell(name), built(of_keras(3), (None, 4))
    if name == "lstm":
        bias, expected = cell.input_kernel.bias, stock.bias
    else:
        bias, expected = cell.input_norm.bias, stock.input_norm.bias
    np.testing.assert_array_equal(bias, expected)
    assert np.sum(bias) == 3


def test_recurrent_kernels_start_orthogonal():
    kernel = np.asarray(context_cell("gru_paper").proposal_kernel.kernel)
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(3), atol=1e-5)


UNIFORM = keras.initializers.RandomUniform(-0.1, 0.1)


def bridge():
    layer = ks.layers.DenseBridge([5, 5], kernel_initializer=UNIFORM)
    layer(ks.BiEncoder(3)(sequence()))
    return layer


SHARING = {
    "bridge": bridge,
    "coverage": lambda: built(ks.layers.CoverageAttention(6), QUERY, VALUE),
    "local": lambda: built(
        ks.layers.LocalAttention(
            ks.LuongAttention("concat", kernel_initializer=UNIFORM),
            position="predictive",
            kernel_initializer=UNIFORM,
        ),
        QUERY,
        QUERY,
    ),
    "head": lambda: built(
        ks.layers.DeepOutputHead(9, 3, kernel_initializer=UNIFORM), QUERY, QUERY
    ),
    "encoder": lambda: built(ks.BiEncoder(3, "gru", kernel_initializer=UNIFORM), QUERY),
    "encoder_of_a_cell": lambda: built(
        ks.BiEncoder(3, keras.layers.GRUCell(3, kernel_initializer=UNIFORM)), QUERY
    ),
}


@pytest.mark.parametrize("name", SHARING)
def test_weights_that_share_an_initializer_draw_their_own_values(name):
    """An initializer that is called twice returns the same values."""
    drawn = [w.numpy() for w in SHARING[name]().weights if np.ptp(w) > 0]
    assert len({x.shape for x in drawn}) < len(drawn)
    assert len({x.tobytes() for x in drawn}) == len(drawn)
