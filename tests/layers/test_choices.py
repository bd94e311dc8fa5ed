"""What constructors check beside the errors of tests/errors: their choices and rates.

How sizes, choices and rates are checked is proven there; here, that they are.
"""

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.layers import (
    DenseBridge,
    LocalAttention,
    MonotonicAttention,
    ZeroBridge,
)
from tests.layers.mechanism_cases import additive
from tests.raised import check_error, row


def attend_without_state(attention):
    attention.build((2, 4), (2, 5, 6))
    query, value = np.ones((2, 4), "float32"), np.ones((2, 5, 6), "float32")
    return attention.attend(query, attention.prepare(value))


ERRORS = {
    "BiEncoder got an unknown merge": lambda: ks.BiEncoder(3, merge="mul"),
    "BiEncoder got an unusable dropout": lambda: ks.BiEncoder(3, dropout=1.0),
    "ZeroBridge got an unusable state_size": lambda: ZeroBridge([]),
    "DenseBridge got an unusable state_size": lambda: DenseBridge([4, -1]),
    "DenseBridge got an unknown inputs ... backward, mean, state": lambda: DenseBridge(
        4, inputs="forward"
    ),
    "LocalAttention got an unknown position": lambda: LocalAttention(
        additive(), position="middle"
    ),
    "LocalAttention got a state that does not fit its query ... "
    "[batch, ...] for a query of shape (2, 4), received ()": lambda: (
        attend_without_state(LocalAttention(additive()))
    ),
    "MonotonicAttention got an unknown inference": lambda: MonotonicAttention(
        additive(), inference="harsh"
    ),
    "MonotonicAttention got an unknown form": lambda: MonotonicAttention(
        additive(), form="open"
    ),
    "BahdanauAttention got an unknown implementation": lambda: additive(
        implementation="quick"
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_error(text):
    call, what, parts = row(ERRORS[text], text)
    check_error(call, what, *parts)


@pytest.mark.parametrize(
    "name, score",
    [("bilinear", "general"), ("multiplicative", "general")]
    + [("additive", "concat"), ("mlp", "concat"), ("dot", "dot")],
)
def test_a_score_with_another_name_is_stored_under_one(name, score):
    assert ks.LuongAttention(name).get_config()["score"] == score
