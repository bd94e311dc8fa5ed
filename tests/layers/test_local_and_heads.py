"""Local attention where its window leaves the source; the places of heads."""

import numpy as np

import keras_seqattn as ks
from tests.layers.mechanism_cases import MASK, assert_close, built, sequences


def run(inner, target):
    """Contexts and alignments of "monotonic" queries with window=1."""
    query, value = sequences(target)
    layer = built(ks.layers.LocalAttention(inner, window=1), query, value)
    return layer(query, value, value_mask=MASK, return_attention_scores=True)


def test_nothing_is_left_behind_the_end_and_steps_are_counted_exactly():
    context, alignment = run(ks.LuongAttention("general"), target=9)
    for row, length in enumerate(MASK.sum(axis=1)):
        # p_t = t; the window holds something real until t = S + D.
        last = length + 1 if length else 0
        assert_close(np.sum(alignment[row, :last], axis=-1), np.ones(last))
        assert not np.any(alignment[row, last:])
        assert not np.any(context[row, last:])
    inner = ks.LuongAttention("location", maximum_source=2)
    context, alignment = run(inner, target=5)
    assert_close(np.sum(alignment[0], axis=-1), [1, 1, 1, 0, 0])
    assert not np.any(alignment[:, :, 2:])
    assert not np.any(context[0, 3:])
    query, value = sequences()
    inner = ks.LuongAttention("general", dtype="mixed_float16")
    layer = built(ks.layers.LocalAttention(inner), query, value)
    assert layer.initial_state(layer.prepare(value)).own.dtype == "int32"


def test_heads_stand_before_the_source_in_steps_and_before_the_target_else():
    query, value = sequences()
    layer = ks.layers.MultiHeadAdditiveAttention(6, heads=3)
    memory = built(layer, query, value).prepare(value, MASK)
    beams = np.stack([query, query[:, ::-1]], axis=1)  # [batch, beam, target, depth]
    _, whole = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert whole.shape == (4, 3, 3, 5)  # [batch, heads, target, source]
    for t in range(3):
        single = layer.attend(query[:, t], memory).alignment
        beam = layer.attend(beams[:, :, t], memory).alignment
        assert beam.shape == (4, 2, 3, 5)  # [batch, beam, heads, source]
        assert_close(single, whole[:, :, t])
        assert_close(beam[:, 0], single)
        assert_close(beam[:, 1], whole[:, :, 2 - t])
    every = layer.attend(query, memory).alignment
    assert_close(every, np.moveaxis(np.asarray(whole), 1, 2))
