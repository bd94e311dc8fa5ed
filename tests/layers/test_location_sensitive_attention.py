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
from tests.oracles.alignment import first_position


def located(**kwargs):
    return ks.layers.LocationSensitiveAttention(3, filters=2, kernel_size=3, **kwargs)


def attend_as_the_paper(layer, value):
    return oracle.bind(
        oracle.location_sensitive,
        value,
        MASK,
        query_kernel=kernel(layer.query_projection),
        key_kernel=kernel(layer.key_projection),
        filters=kernel(layer.convolution),
        location_kernel=kernel(layer.location_projection),
        v=np.asarray(layer.w),
        b=np.asarray(layer.bias),
    )


def test_is_the_papers():
    query, value = sequences()
    layer = built(located(), query, value)
    context, alignment, state = oracle.over_targets(
        attend_as_the_paper(layer, value), query, first_position(4, 5)
    )
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert_close(received[0], context)
    assert_close(received[1], alignment)
    assert_close(attend_all(layer, query, value, MASK)[2], state)


def test_cumulative_sees_the_sum():
    query, value = sequences()
    layer = built(located(use_cumulative=True), query, value)
    attend, total = attend_as_the_paper(layer, value), np.zeros((4, 5))
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)[1]
    for t in range(3):
        _, alignment, _ = attend(query[:, t], total)
        assert_close(received[:, t], alignment)
        total = total + alignment
    assert_close(attend_all(layer, query, value, MASK)[2], total)


def test_filters_wider_than_the_source():
    query, value = sequences()
    layer = ks.layers.LocationSensitiveAttention(3)
    assert (layer.filters, layer.kernel_size) == (10, 201)  # the paper's
    layer.build(query.shape, value.shape)
    assert not np.any(layer.bias)
    layer = built(layer, query, value, scale=0.2)
    context, _, _ = oracle.over_targets(
        attend_as_the_paper(layer, value), query, first_position(4, 5)
    )
    assert_close(layer(query, value, value_mask=MASK), context)


@pytest.mark.parametrize("use_cumulative", [False, True])
def test_beams(use_cumulative):
    assert_beams_are_independent(located(use_cumulative=use_cumulative))


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_trains(policy):
    _, found = assert_trains_in_a_decoder(located, policy=policy)
    assert any("convolution" in name and np.any(g) for name, g in found.items())


def test_messages():
    assert message(ks.layers.LocationSensitiveAttention, 3, kernel_size=4) == (
        "LocationSensitiveAttention got filters that have no centre. Expected an odd "
        "kernel_size, received kernel_size=4. Use 3 or 5."
    )
    assert "filters=0" in message(ks.layers.LocationSensitiveAttention, 3, filters=0)
