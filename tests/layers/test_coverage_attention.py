import numpy as np
import pytest

import keras_seqattn as ks
from tests.layers.mechanism_cases import (
    MASK,
    assert_beams_are_independent,
    assert_close,
    assert_trains_in_a_decoder,
    attend_all,
    built,
    kernel,
    message,
    sequences,
)
from tests.oracles import attention as oracle


def test_is_the_papers():
    query, value = sequences()
    layer = built(ks.layers.CoverageAttention(3, value_units=2), query, value)
    attend = oracle.bind(
        oracle.coverage,
        value,
        MASK,
        query_kernel=kernel(layer.query_projection),
        key_kernel=kernel(layer.key_projection),
        coverage_kernel=np.asarray(layer.w_c),
        v=np.asarray(layer.v),
        b=np.asarray(layer.bias),
        value_kernel=kernel(layer.value_projection),
    )
    context, alignment, coverage = oracle.over_targets(attend, query, np.zeros((4, 5)))
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert_close(received[0], context)
    assert_close(received[1], alignment)
    assert_close(attend_all(layer, query, value, MASK)[2], coverage)


def test_starts_without_bias():
    layer = ks.layers.CoverageAttention(3)
    layer.build((None, 4), (None, None, 6))
    assert not np.any(layer.bias)


def test_what_was_read_is_avoided():
    query, value = sequences()
    query = np.repeat(query[:, :1], 3, axis=1)
    layer = built(ks.layers.CoverageAttention(3), query, value)
    layer.v.assign(np.ones(3))
    layer.w_c.assign(-np.ones(3) * 5)
    _, alignment = layer(query, value, return_attention_scores=True)
    first = np.argmax(alignment[:, 0], axis=-1)
    before, after = (
        np.take_along_axis(np.asarray(alignment[:, t]), first[:, None], axis=-1)
        for t in (0, 1)
    )
    assert np.all(after < before)


def test_dropout_does_not_reach_the_coverage():
    query, value = sequences()
    layer = built(ks.layers.CoverageAttention(3, dropout=0.5), query, value)
    coverage = attend_all(layer, query, value, MASK, training=True)[2]
    assert_close(np.sum(coverage, axis=-1), [3.0, 3.0, 3.0, 0.0])
    assert_close(coverage, np.asarray(attend_all(layer, query, value, MASK)[2]))


def test_beams():
    assert_beams_are_independent(ks.layers.CoverageAttention(3))


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_trains(policy):
    _, found = assert_trains_in_a_decoder(
        lambda: ks.layers.CoverageAttention(3), policy=policy
    )
    assert any("w_c" in name and np.any(g) for name, g in found.items())


def test_message_for_a_missing_state():
    query, value = sequences()
    layer = built(ks.layers.CoverageAttention(3), query, value)
    assert message(layer.attend, query[:, 0], layer.prepare(value)) == (
        "CoverageAttention got a state that does not fit its query. Expected [batch, "
        "..., source] for a query of shape (4, 4), received (). Start with "
        "initial_state(memory), pass on the state of each result, and give it the axes "
        "that the query has (with a beam: [batch, beam, ...])."
    )
