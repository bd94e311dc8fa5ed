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


@pytest.mark.parametrize("factor", [None, 3**-0.5])
def test_is_the_papers(factor):
    query, value = sequences()
    layer = built(
        ks.layers.ProjectedDotAttention(3, factor, value_units=2), query, value
    )
    attend = oracle.bind(
        oracle.luong,
        value,
        MASK,
        score="projected_dot",
        query_kernel=kernel(layer.query_projection),
        key_kernel=kernel(layer.key_projection),
        factor=factor or 1.0,
        value_kernel=kernel(layer.value_projection),
    )
    context, alignment, _ = oracle.over_targets(attend, query)
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert_close(received[0], context)
    assert_close(received[1], alignment)


def test_beams():
    assert_beams_are_independent(ks.layers.ProjectedDotAttention(3))


def test_trains():
    assert_trains_in_a_decoder(lambda: ks.layers.ProjectedDotAttention(3, 0.5))


def test_messages():
    assert message(ks.layers.ProjectedDotAttention, 3, factor=True) == (
        "ProjectedDotAttention got an unusable factor. Expected a number or None, "
        "received factor=True. Pass e.g. factor=3**-0.5."
    )
    assert "units=0" in message(ks.layers.ProjectedDotAttention, 0)
