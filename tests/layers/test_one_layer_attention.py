import numpy as np

import keras_seqattn as ks
from tests.layers.mechanism_cases import (
    MASK,
    assert_beams_are_independent,
    assert_close,
    assert_trains_in_a_decoder,
    built,
    kernel,
    sequences,
)
from tests.oracles import attention as oracle


def test_is_the_lectures():
    query, value = sequences()
    layer = built(ks.layers.OneLayerAttention(), query, value)
    rows = kernel(layer.query_projection), kernel(layer.key_projection)
    w = np.concatenate(rows)[:, 0]
    attend = oracle.bind(oracle.luong, value, MASK, score="one_layer", w=w)
    context, alignment, _ = oracle.over_targets(attend, query)
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert_close(received[0], context)
    assert_close(received[1], alignment)


def test_it_cannot_be_sharp():
    query, value = sequences()
    layer = built(ks.layers.OneLayerAttention(), query, value, scale=100.0)
    _, alignment = layer(query, value, return_attention_scores=True)
    ratio = np.max(alignment, axis=-1) / np.min(alignment, axis=-1)
    assert 7.0 < ratio.max() < np.exp(2) + 1e-3


def test_beams():
    assert_beams_are_independent(ks.layers.OneLayerAttention())


def test_trains():
    assert_trains_in_a_decoder(ks.layers.OneLayerAttention)
