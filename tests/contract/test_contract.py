"""Every check of the contract that applies, for every row; every layer has a row."""

import hashlib

import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.testing import contract, implementations
from tests.contract.rows import BASES, ROWS
from tests.public import LAYERS


def kind(row):
    """The class that a row is about: rows of one kind are variants of each other."""
    layer = row.make()
    return type(getattr(layer, "cell", None) or layer)


KINDS = {str(row): kind(row) for row in ROWS}  # a layer made for each row, no more
FIRST = {KINDS[name]: name for name in reversed(KINDS)}  # the first of each kind


def by_default(row, check):
    """The default run takes the first row of a kind whole, of its variants a sixth."""
    if FIRST[KINDS[str(row)]] == str(row):
        return True
    return hashlib.sha256(f"{row}-{check}".encode()).digest()[0] % 6 == 0


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
POLICIES = cases(lambda row: ["mixed_float16", "mixed_bfloat16"], str)
WITH_FAST = {str(row) for row in ROWS if implementations.number_of_parts(row)}


@pytest.mark.parametrize(("row", "check"), CASES)
def test_contract(row, check):
    check(row)


@pytest.mark.parametrize(("row", "policy"), POLICIES)
def test_precision(row, policy):
    contract.check_precision(row, policy)


@pytest.mark.parametrize(
    ("row", "policy"), [case for case in POLICIES if str(case.values[0]) in WITH_FAST]
)
def test_implementations_in_half_precision(row, policy):
    contract.check_implementations(row, policy)


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
