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


def heads(**kwargs):
    return ks.layers.MultiHeadAdditiveAttention(6, heads=3, **kwargs)


def per_head(dense):
    return kernel(dense).reshape(-1, 3, 2)


@pytest.mark.parametrize("value_units", [None, 5])
def test_is_the_papers(value_units):
    query, value = sequences()
    layer = built(heads(value_units=value_units), query, value)
    attend = oracle.bind(
        oracle.multi_head_additive,
        value,
        MASK,
        query_kernel=per_head(layer.query_projection),
        key_kernel=per_head(layer.key_projection),
        v=np.asarray(layer.v),
        value_kernel=per_head(layer.value_projection),
        output_kernel=kernel(layer.output_projection),
    )
    context, alignment, _ = oracle.over_targets(attend, query)
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert received[0].shape == (4, 3, value_units or 6)
    assert_close(received[0], context)
    assert_close(received[1], np.moveaxis(alignment, 1, -2))  # heads before target


def test_masked_queries_give_zeros():
    query, value = sequences()
    query_mask = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], bool)
    context, alignment = built(heads(), query, value)(
        query, value, query_mask=query_mask, return_attention_scores=True
    )
    assert not np.any(np.asarray(context)[~query_mask])
    assert not np.any(np.moveaxis(np.asarray(alignment), 1, 2)[~query_mask])
    assert_close(np.sum(alignment, axis=-1)[0], np.ones((3, 3)))


def test_one_head_with_plain_values_is_bahdanaus():
    query, value = sequences()
    layer = built(ks.layers.MultiHeadAdditiveAttention(6, heads=1), query, value)
    single = built(ks.BahdanauAttention(6), query, value)
    single.query_projection.kernel.assign(layer.query_projection.kernel)
    single.key_projection.kernel.assign(layer.key_projection.kernel)
    single.v.assign(layer.v[0])
    for dense in (layer.value_projection, layer.output_projection):
        dense.kernel.assign(np.eye(6))
    received = layer(query, value, value_mask=MASK)
    assert_close(received, np.asarray(single(query, value, value_mask=MASK)))


def test_dropout_is_for_the_context_only():
    query, value = sequences()
    layer = built(heads(dropout=0.5), query, value)
    calm = layer(query, value, return_attention_scores=True)
    wild = layer(query, value, return_attention_scores=True, training=True)
    assert not np.allclose(calm[0], wild[0])
    assert_close(wild[1], np.asarray(calm[1]))


def test_beams():
    assert_beams_are_independent(heads())


def test_heads_stand_before_the_source_in_steps_and_before_the_target_else():
    query, value = sequences()
    layer = built(heads(), query, value)
    memory = layer.prepare(value, MASK)
    beams = np.stack([query, query[:, ::-1]], axis=1)  # [batch, beam, target, depth]
    _, whole = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert whole.shape == (4, 3, 3, 5)  # [batch, heads, target, source]
    for t in range(3):
        single = layer.attend(query[:, t], memory).alignment
        beam = layer.attend(beams[:, :, t], memory).alignment
        assert beam.shape == (4, 2, 3, 5)  # [batch, beam, heads, source]
        assert_close(single, np.asarray(whole[:, :, t]))
        assert_close(beam[:, 0], np.asarray(single))
        assert_close(beam[:, 1], np.asarray(whole[:, :, 2 - t]))
    every = layer.attend(query, memory).alignment
    assert_close(every, np.moveaxis(np.asarray(whole), 1, 2))


@pytest.mark.parametrize(
    ("cell", "policy"),
    [(ks.layers.BahdanauCell, "mixed_float16"), (ks.layers.LuongCell, "float32")],
)
def test_trains(cell, policy):
    outputs, _ = assert_trains_in_a_decoder(heads, cell=cell, policy=policy)
    assert outputs[1].shape == (4, 3, 3, 5)  # [batch, heads, target, source]


def test_messages():
    assert message(ks.layers.MultiHeadAdditiveAttention, 6, heads=4) == (
        "MultiHeadAdditiveAttention cannot share its units among its heads. Expected "
        "units divisible by heads, received units=6 and heads=4. Use e.g. units=8."
    )
    assert "value_units=0" in message(heads, value_units=0)
