"""Monotonic attention: when it is hard, its noise; its numbers are the oracle's."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import keras_seqattn as ks
from tests.layers.mechanism_cases import (
    MASK,
    assert_close,
    attend_all,
    built,
    sequences,
)


def monotonic(**options):
    inner = ks.BahdanauAttention(3, normalize=True)
    return ks.layers.MonotonicAttention(inner, **options)


def is_hard(alignment):
    return set(np.unique(alignment)) <= {0.0, 1.0}


class Around(keras.layers.Layer):
    """A user's layer with a loop of its own, which does not pass `training` on."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def build(self, query_shape, value_shape):
        self.attention.build(query_shape, value_shape)

    def call(self, query, value, training=None):
        return attend_last(self.attention, query, value)


def attend_last(attention, query, value, training=None):
    memory = attention.prepare(value)
    state = attention.initial_state(memory)
    for t in range(3):
        attended = attention.attend(query[:, t], memory, state, training=training)
        state = attended.state
    return attended.alignment


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_steps_inside_a_layer_know_whether_it_trains(policy):
    keras.config.set_dtype_policy(policy)
    query, value = sequences()
    layer = monotonic()
    around = built(Around(layer), query, value)
    assert is_hard(around(query, value))
    assert is_hard(around(query, value, training=False))
    assert is_hard(attend_last(layer, query, value))  # no layer around it: inference
    trained = around(query, value, training=True)
    assert not is_hard(trained)
    expected = attend_last(layer, query, value, training=True)
    np.testing.assert_array_equal(trained, expected)


def test_steps_inside_a_model_know_whether_it_trains():
    query, value = sequences()
    inputs = keras.Input((3, 4)), keras.Input((None, 6))
    model = keras.Model(inputs, built(Around(monotonic()), query, value)(*inputs))
    seen = []

    def loss(target, alignment):
        tf.py_function(lambda a: seen.append(np.asarray(a)), [alignment], [])
        return ops.mean(ops.square(alignment))

    model.compile("sgd", loss=loss, jit_compile=False)
    target = np.zeros((4, 5))
    model.fit((query, value), target, verbose=0)
    model.evaluate((query, value), target, verbose=0)
    trained, evaluated = seen
    assert not is_hard(trained) and is_hard(evaluated)


def test_alignments_are_not_rounded_on_the_way():
    keras.config.set_dtype_policy("mixed_float16")
    query, value = sequences()
    layer = built(monotonic(inference="soft"), query, value)
    _, _, state = attend_all(layer, query[:, :1], value, MASK)
    assert state.own.dtype == "float32"
    half = np.asarray(state.own).astype("float16").astype("float32")
    assert not np.array_equal(state.own, half)


def test_noise_is_for_training_and_drawn_anew_for_every_step():
    query, value = sequences()
    query = np.repeat(query[:, :1], 3, axis=1)
    noisy = built(monotonic(noise=2.0, inference="soft", seed=3), query, value)
    calm = built(monotonic(inference="soft"), query, value)
    assert_close(noisy(query, value), calm(query, value))
    quiet = calm(query, value, return_attention_scores=True)[1]

    def call():
        return noisy(query, value, return_attention_scores=True, training=True)[1]

    graph, xla = tf.function(call), tf.function(call, jit_compile=True)
    for function in (call, graph, xla):
        first, second = np.asarray(function()), np.asarray(function())
        assert not np.allclose(first, second)
        louder = first > quiet  # equal queries: equal noise would show in every step
        assert not np.array_equal(louder[:, 0], louder[:, 1])


def test_certain_choices_have_finite_gradients():
    query, value = sequences()
    layer = built(monotonic(), query, value)
    layer.r.assign(200.0)  # p = 1 in float32
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(query, value, value_mask=MASK, training=True))
    found = tape.gradient(loss, layer.trainable_weights)
    assert all(np.isfinite(g).all() for g in found)
