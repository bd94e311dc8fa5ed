"""Every check of the contract that applies, for every row; every layer has a row."""

import inspect

import keras
import pytest

import keras_seqattn as ks
from keras_seqattn.testing import contract
from tests.contract.rows import BASES, ROWS

CASES = [(row, check) for row in ROWS for check in contract.checks_for(row)]


@pytest.mark.parametrize(
    ("row", "check"), CASES, ids=[f"{r}-{c.__name__[6:]}" for r, c in CASES]
)
def test_contract(row, check):
    check(row)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_precision(row, policy):
    contract.check_precision(row, policy)


def test_every_public_layer_has_a_row():
    public = {
        name
        for name in ks.__all__
        if inspect.isclass(getattr(ks, name))
        and issubclass(getattr(ks, name), keras.layers.Layer)
        and not issubclass(getattr(ks, name), keras.Model)  # tests/models, training
    }
    layers = [row.make() for row in ROWS]
    parts = [p for layer in layers for p in layer._flatten_layers()]
    missing = public - BASES - {type(part).__name__ for part in parts}
    assert not missing, f"public layers without a row in rows.py: {missing}"
