import keras
import numpy as np
import pytest

from keras_seqattn.layers.bahdanau_attention import BahdanauAttention
from keras_seqattn.layers.bi_encoder import BiEncoder
from tests.layers.encoder_cases import (
    MASKS,
    assert_nests_equal,
    pairs_for_oracle,
    randomize,
    sequence,
    set_constants,
)
from tests.oracles import encoders

NAMES = ["lstm", "gru", "gru_paper", "simple"]


def built(*args, depth=4, **kwargs):
    encoder = BiEncoder(*args, **kwargs)
    encoder.build((None, None, depth))
    randomize(encoder)
    return encoder


@pytest.mark.parametrize("mask", [None, MASKS["right-padded"]], ids=["none", "right"])
@pytest.mark.parametrize(
    ("cell", "stock"),
    [("lstm", "LSTM"), ("gru", "GRU"), ("simple", "SimpleRNN")],
)
def test_equals_stock_bidirectional(cell, stock, mask):
    inputs = sequence().astype("float32")
    encoder = built(3, cell=cell)
    layer = getattr(keras.layers, stock)(3, return_sequences=True, return_state=True)
    stock = keras.layers.Bidirectional(layer)
    stock.build(inputs.shape)
    stock.set_weights(encoder.get_weights())
    expected, *states = stock(inputs, mask=mask)
    real = np.ones([3, 5], bool) if mask is None else mask
    encoded = encoder(inputs, mask=mask)
    np.testing.assert_allclose(
        encoded.values, np.where(real[..., None], expected, 0), rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(encoded.mask, real)
    half = len(states) // 2
    joined = [
        np.concatenate(pair, axis=-1)
        for pair in zip(states[:half], states[half:], strict=True)
    ]
    assert_nests_equal(encoded.state, [joined if cell == "lstm" else joined[0]])


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("cell", NAMES)
def test_equals_oracle(cell, mask):
    inputs = sequence()
    encoder = built(3, cell=cell, layers=2, dtype="float64")
    encoded = encoder(inputs, mask=mask)
    pairs = pairs_for_oracle(encoder, cell)
    values, state = encoders.stacked_bidirectional(inputs, pairs, mask)
    np.testing.assert_allclose(encoded.values, values, rtol=0, atol=1e-12)
    assert_nests_equal(encoded.state, state, atol=1e-12)


def test_sum_adds_values_and_states():
    inputs, mask = sequence(), MASKS["holes"]
    encoder = built(3, merge="sum", dtype="float64")
    encoded = encoder(inputs, mask=mask)
    concatenated = built(3, dtype="float64")(inputs, mask=mask)
    for total, both in zip(
        [encoded.values, *encoded.state[0]],
        [concatenated.values, *concatenated.state[0]],
        strict=True,
    ):
        fw, bw = np.split(np.asarray(both), 2, axis=-1)
        np.testing.assert_allclose(total, fw + bw, atol=1e-12)


def constant(units, cell, inputs, mask=None, **kwargs):
    encoder = BiEncoder(units, cell=cell, **kwargs)
    encoder.build(inputs.shape)
    set_constants(encoder)
    return encoder(inputs, mask=mask)


def arange(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def test_golden_lstm_masking():
    # keras lstm_test.test_masking, with zero_output_for_mask.
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
    encoded = constant(2, "lstm", arange(2, 4, 3), mask)
    expected = [[0.01588910, 0.05552048, 0.11755939, 0], [0.14185596, 0.28556206, 0, 0]]
    for unit in range(2):
        np.testing.assert_allclose(encoded.values[..., unit], expected, atol=1e-5)
        np.testing.assert_allclose(
            encoded.state[0][0][:, unit], [0.11755939, 0.28556206], atol=1e-5
        )


def test_golden_lstm_correctness():
    # keras lstm_test.test_correctness, forwards and go_backwards.
    encoded = constant(3, "lstm", arange(3, 6, 4))
    expected = [[0.6288687] * 3 + [0.35622165] * 3]
    expected += [[0.86899155] * 3 + [0.74789524] * 3]
    expected += [[0.9460773] * 3 + [0.8872726] * 3]
    np.testing.assert_allclose(encoded.state[0][0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("cell", "forward", "backward"),
    [
        (
            "gru",
            [0.5217289, 0.6371659, 0.39384964],
            [0.24406259, 0.611516, 0.3928808],
        ),
        ("gru_paper", [0.51447755, 0.6426879, 0.40208298], None),
    ],
)
def test_golden_gru_correctness(cell, forward, backward):
    # keras gru_test.test_correctness: reset_after true and false, and go_backwards.
    (state,) = constant(3, cell, arange(3, 6, 4)).state
    for unit in range(3):
        np.testing.assert_allclose(state[:, unit], forward, atol=1e-5)
        if backward:
            np.testing.assert_allclose(state[:, 3 + unit], backward, atol=1e-5)


def test_golden_bidirectional_correctness():
    # keras bidirectional_test.test_correctness: SimpleRNN, "concat"; GRU, "sum".
    (state,) = constant(2, "simple", arange(2, 3, 4)).state
    expected = [[0.39687276, 0.10004295], [0.7237238, 0.53391594]]
    np.testing.assert_allclose(state[:, ::2], expected, atol=1e-5)
    np.testing.assert_allclose(state[:, 1::2], expected, atol=1e-5)
    values = constant(2, "gru", arange(2, 3, 4), merge="sum").values
    expected = [[0.20937867, 0.34462988, 0.40290534], [0.59829646, 0.6734641, 0.647967]]
    np.testing.assert_allclose(values[..., 0], expected, atol=1e-5)


def test_golden_bidirectional_masking():
    # keras bidirectional_test.test_masking: a mask with holes.
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 1]], bool)
    (state,) = constant(2, "gru", arange(2, 4, 3), mask).state
    expected = [[0.19393763, 0.11669192], [0.30818558, 0.28380975]]
    np.testing.assert_allclose(state[:, ::2], expected, atol=1e-5)


def test_mask_reaches_attention_in_eager_use():
    inputs, mask = sequence().astype("float32"), MASKS["right-padded"]
    query = sequence(source=2, depth=3).astype("float32")
    encoded = built(3)(inputs, mask=mask)
    attention = BahdanauAttention(4)
    implicit = attention(query, encoded.values)
    explicit = attention(query, encoded.values, value_mask=mask)
    unmasked = attention(query, keras.ops.stop_gradient(encoded.values))
    np.testing.assert_array_equal(implicit, explicit)
    assert not np.allclose(implicit, unmasked)


@pytest.mark.parametrize("explicit", [False, True])
def test_mask_reaches_attention_in_functional_use(explicit):
    ids = np.array([[1, 2, 3, 0, 0], [4, 0, 0, 0, 0]])
    tokens = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(9, 4, mask_zero=not explicit)(tokens)
    mask = {"mask": keras.ops.not_equal(tokens, 0)} if explicit else {}
    encoded = BiEncoder(3)(embedded, **mask)
    query = keras.Input((2, 6))
    outputs = BahdanauAttention(4)(query, encoded.values, return_attention_scores=True)
    model = keras.Model([tokens, query], outputs)
    _, alignment = model([ids, np.ones([2, 2, 6])])
    real = np.broadcast_to((ids != 0)[:, None], alignment.shape)
    assert not np.any(np.asarray(alignment)[~real])
    np.testing.assert_allclose(np.sum(alignment, axis=-1), 1, atol=1e-6)


MESSAGES = [
    (
        {"units": 0},
        "BiEncoder got an unusable units. Expected a positive integer, received "
        "units=0. Pass a Python int, 1 or more.",
    ),
    (
        {"cell": "rnn"},
        "BiEncoder got an unknown cell. Expected one of gru, gru_paper, "
        "layer_norm_gru, layer_norm_lstm, lstm, simple, received 'rnn'. Check "
        "the spelling.",
    ),
    (
        {"layers": 0},
        "BiEncoder got an unusable layers. Expected a positive integer, received "
        "layers=0. ",
    ),
    (
        {"merge": "mul"},
        "BiEncoder got an unknown merge. Expected one of concat, sum, received "
        "'mul'. Check the spelling.",
    ),
    (
        {"dropout": 1.0},
        "BiEncoder got an unusable dropout. Expected a rate in [0, 1), received "
        "dropout=1.0. Use 0 to switch it off.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MESSAGES)
def test_messages(arguments, message):
    with pytest.raises(ValueError) as error:
        BiEncoder(**{"units": 3, **arguments})
    assert message in str(error.value)
