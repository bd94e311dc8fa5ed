"""Every check of the contract that applies, for every row; every layer has a row."""

import hashlib

import keras
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.testing import contract, implementations
from tests.contract.rows import BASES, ENCODERS, ROWS, first_rows, is_first
from tests.public import LAYERS


def by_default(row, check):
    """The default run takes the first row of a kind whole, of its variants a tenth."""
    if is_first(row):
        return True
    return hashlib.sha256(f"{row}-{check}".encode()).digest()[0] % 10 == 0


def cases(checks_of, name):
    return [
        pytest.param(
            row,
            check,
            marks=() if by_default(row, name(check)) else pytest.mark.slow,
            id=f"{row}-{name(check)}",
        )
        for row in ROWS
        for check in checks_of(row)
    ]


CASES = cases(contract.checks_for, lambda check: check.__name__[6:])
HALF = ["mixed_float16", "mixed_bfloat16"]


def in_half(row):
    """Of the encoders one stands for all: they are made of the same layers."""
    return is_first(row) and (row not in ENCODERS or row is ENCODERS[0])


WITH_FAST = [
    pytest.param(row, id=str(row), marks=() if in_half(row) else pytest.mark.slow)
    for row in ROWS
    if implementations.number_of_parts(row)
]


@pytest.mark.parametrize(("row", "check"), CASES)
def test_contract(row, check):
    check(row)


@pytest.mark.parametrize(("row", "policy"), cases(lambda row: HALF, str))
def test_precision(row, policy):
    contract.check_precision(row, policy)


@pytest.mark.product
@pytest.mark.parametrize("policy", HALF)
@pytest.mark.parametrize("row", WITH_FAST)
def test_implementations_in_half_precision(row, policy):
    contract.check_implementations(row, policy)


OTHER = {  # values that no default has, of arguments that no result shows
    "dropout": 0.25,
    "recurrent_dropout": 0.125,
    "use_variational_dropout": True,
    "seed": 7,
    "noise": 0.5,
    "score_bias": -1.0,
    "unroll": True,
    "learning_rate_scale": 0.25,
    "implementation": "reference",
    "kernel_initializer": keras.initializers.serialize(keras.initializers.HeNormal()),
}
WITHOUT = (ks.layers.CopyBridge, ks.layers.LocalAttention, ks.layers.ZeroBridge)
WITHOUT += (ks.layers.KerasAttention, ks.layers.PositionEmbedding)


@pytest.mark.parametrize("kind", [k for k in first_rows() if k in LAYERS.values()])
def test_every_argument_comes_back(kind):
    """What a constructor takes is in the configuration with its value."""
    layers = first_rows()[kind].make()._flatten_layers()
    [config] = [part.get_config() for part in layers if type(part) is kind]
    taken = {name: value for name, value in OTHER.items() if takes(kind, config, name)}
    assert bool(taken) == (kind not in WITHOUT)
    received = kind.from_config({**config, **taken}).get_config()
    assert {name: received.get(name) for name in taken} == taken


def takes(layer_class, config, name):
    try:
        layer_class.from_config({**config, name: OTHER[name]})
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", ["bahdanau", "bahdanau_gru"])
def test_a_wrong_gradient_is_noticed(name, monkeypatch):
    @tf.custom_gradient
    def crooked(scores):
        return tf.identity(scores), lambda gradient: 1.001 * gradient

    def wrong(*given, right=ks.BahdanauAttention.score):
        return crooked(right(*given))

    monkeypatch.setattr(ks.BahdanauAttention, "score", wrong)
    [row] = [row for row in ROWS if str(row) == name]
    with pytest.raises(AssertionError, match="query_projection/kernel"):
        contract.check_differences(row)


def test_every_public_layer_has_a_row():
    layers = [row.make() for row in ROWS]
    parts = [p for layer in layers for p in layer._flatten_layers()]
    missing = set(LAYERS) - BASES - {type(part).__name__ for part in parts}
    assert not missing, f"public layers without a row in rows.py: {missing}"
