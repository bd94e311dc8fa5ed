import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.layers.mechanism_cases import (
    MASK,
    assert_beams_are_independent,
    assert_close,
    assert_trains_in_a_decoder,
    built,
    kernel,
    message,
    sequences,
)
from tests.oracles import attention as oracle


def local(position="monotonic", window=1, **kwargs):
    inner = ks.LuongAttention("general", value_units=5)
    return ks.layers.LocalAttention(inner, window, position, **kwargs)


def weights(layer):
    return {
        "score": "general",
        "kernel": kernel(layer.attention.key_projection).T,
        "value_kernel": kernel(layer.attention.value_projection),
        "window": layer.window,
    }


def run(layer, query, value, mask=MASK):
    return layer(query, value, value_mask=mask, return_attention_scores=True)


def test_monotonic_is_the_papers():
    query, value = sequences(target=7)
    layer = built(local(), query, value)
    attend = oracle.bind(oracle.local_m, value, MASK, **weights(layer))
    context, alignment, _ = oracle.over_targets(attend, query, np.zeros(4))
    received = run(layer, query, value)
    assert_close(received[0], context)
    assert_close(received[1], alignment)


@pytest.mark.parametrize("units", [None, 3])
def test_predictive_is_the_papers(units):
    query, value = sequences()
    layer = built(local("predictive", window=2, units=units), query, value)
    position = {
        "position_kernel": kernel(layer.position_projection),
        "position_v": np.asarray(layer.v_p),
    }
    assert position["position_kernel"].shape == (4, units or 4)
    every = {**weights(layer), **position}
    attend = oracle.bind(oracle.local_p, value, MASK, **every)
    context, alignment, _ = oracle.over_targets(attend, query)
    received = run(layer, query, value)
    assert_close(received[0], context)
    assert_close(received[1], alignment)
    assert np.max(np.sum(received[1], axis=-1)) < 1  # not normalised again


def test_nothing_is_left_behind_the_end():
    query, value = sequences(target=9)
    context, alignment = run(built(local(), query, value), query, value)
    lengths = MASK.sum(axis=1)
    for row, length in enumerate(lengths):
        # p_t = t; the window holds something real until t = S + D.
        last = length + 1 if length else 0
        assert_close(np.sum(alignment[row, :last], axis=-1), np.ones(last))
        assert not np.any(alignment[row, last:])
        assert not np.any(context[row, last:])


def test_nothing_is_left_beyond_the_reach_of_a_location_score():
    query, value = sequences(target=5)
    inner = ks.LuongAttention("location", maximum_source=2)
    layer = built(ks.layers.LocalAttention(inner, window=1), query, value)
    context, alignment = run(layer, query, value)
    assert_close(np.sum(alignment[0], axis=-1), [1, 1, 1, 0, 0])
    assert not np.any(alignment[:, :, 2:])
    assert not np.any(context[0, 3:])


def test_the_step_is_counted_per_row_and_not_by_masked_queries():
    query, value = sequences(target=4)
    layer = built(local(), query, value)
    query_mask = np.array(
        [[1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]], bool
    )
    _, alignment = layer(
        query, value, query_mask=query_mask, return_attention_scores=True
    )
    alone = layer(query[1:2, 2:], value[1:2], return_attention_scores=True)[1]
    assert_close(alignment[1:2, 2:], np.asarray(alone))
    memory = layer.prepare(value)
    assert keras.backend.standardize_dtype(layer.initial_state(memory).own.dtype) == (
        "int32"
    )


@pytest.mark.parametrize("position", ["monotonic", "predictive"])
def test_beams(position):
    assert_beams_are_independent(local(position))


@pytest.mark.parametrize("position", ["monotonic", "predictive"])
@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_trains(position, policy):
    _, found = assert_trains_in_a_decoder(
        lambda: local(position), cell=ks.layers.LuongCell, policy=policy
    )
    if position == "predictive":
        assert any("v_p" in name and np.any(g) for name, g in found.items())


def test_an_inner_state_is_nested():
    query, value = sequences()
    inner = ks.layers.CoverageAttention(3)
    layer = built(ks.layers.LocalAttention(inner, window=9), query, value)
    # So wide a window holds everything: nothing but the counter is added.
    assert_close(
        layer(query, value, value_mask=MASK), inner(query, value, value_mask=MASK)
    )


def test_dropout_is_the_inner_attentions():
    query, value = sequences()
    layer = ks.layers.LocalAttention(
        ks.LuongAttention("general", dropout=0.6), window=4
    )
    once = built(layer, query, value)(query, value, training=True)
    assert not np.allclose(once, layer(query, value, training=True))
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        local(dropout=0.1)


def test_messages():
    general = ks.LuongAttention("general")
    text = message(ks.layers.LocalAttention, general, position="middle")
    assert "LocalAttention got an unknown position. Expected one of" in text
    assert "window=0" in message(ks.layers.LocalAttention, general, window=0)
    assert message(ks.layers.LocalAttention, general, units=3) == (
        "LocalAttention got units for a position that has no weights. Expected it "
        "only with position='predictive', received units=3 with position='monotonic'. "
        "Drop units, or change the position."
    )
    assert message(ks.layers.LocalAttention, "general") == (
        "LocalAttention got an unusable attention. Expected a mechanism that aligns by "
        "a softmax over its score, because this softmax is what it replaces, received "
        "'general'. Pass an object, e.g. attention=LuongAttention('general')."
    )
    assert "received <LocalAttention" in message(ks.layers.LocalAttention, local())
    heads = ks.layers.LocalAttention(ks.layers.MultiHeadAdditiveAttention(4, heads=2))
    assert message(heads.build, (2, 3, 4), (2, 5, 6)) == (
        "LocalAttention got an attention with heads. Expected one alignment [batch, "
        "..., source] for each query, received MultiHeadAdditiveAttention with "
        "alignments of shape (2, 2, 3, 5). Use a mechanism with a single alignment."
    )


def test_message_for_a_state_without_the_beam():
    query, value = sequences()
    layer = built(local(), query, value)
    memory = layer.prepare(value)
    text = message(layer.attend, query, memory, layer.initial_state(memory))
    assert text == (
        "LocalAttention got a state that does not fit its query. Expected [batch, ...] "
        "for a query of shape (4, 3, 4), received (4,). Start with "
        "initial_state(memory), pass on the state of each result, and give it the axes "
        "that the query has (with a beam: [batch, beam, ...])."
    )
    assert "received ()" in message(layer.attend, query[:, 0], memory)
