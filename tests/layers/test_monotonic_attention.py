import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import keras_seqattn as ks
from keras_seqattn.layers.composed_attention import ComposedState
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
from tests.oracles import alignment, attention


def monotonic(**kwargs):
    inner = ks.BahdanauAttention(3, normalize=True)
    return ks.layers.MonotonicAttention(inner, **kwargs)


def expected(layer, query, value, mode):
    inner = layer.attention
    attend = attention.bind(
        attention.monotonic,
        value,
        MASK,
        mode=mode,
        query_kernel=kernel(inner.query_projection),
        key_kernel=kernel(inner.key_projection),
        v=np.asarray(inner.v),
        g=np.asarray(inner.g),
        b=np.asarray(inner.bias),
        r=np.asarray(layer.r),
    )
    first = alignment.first_position(4, 5)
    return attention.over_targets(attend, query, first)


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_is_the_papers(mode):
    query, value = sequences(target=4)
    layer = built(monotonic(inference=mode), query, value)
    context, alignments, state = expected(layer, query, value, mode)
    received = layer(query, value, value_mask=MASK, return_attention_scores=True)
    assert_close(received[0], context)
    assert_close(received[1], alignments)
    assert_close(attend_all(layer, query, value, MASK)[2].own, state)


def test_training_is_soft_and_inference_hard():
    query, value = sequences()
    layer = built(monotonic(), query, value)
    soft = expected(layer, query, value, "soft")[1]
    trained = layer(
        query, value, value_mask=MASK, return_attention_scores=True, training=True
    )[1]
    assert_close(trained, soft)
    inferred = layer(query, value, value_mask=MASK, return_attention_scores=True)[1]
    assert set(np.unique(inferred)) <= {0.0, 1.0}


def test_the_closed_form_is_the_authors():
    query, value = sequences()
    layer = built(monotonic(inference="soft", form="closed"), query, value)
    layer.r.assign(10.0)  # (1 - p)**4 is far below the clip
    memory, last = layer.prepare(value), np.eye(5, dtype="float32")[[4] * 4]
    state = ComposedState(own=last)
    clipped = layer.attend(query[:, 0], memory, state).alignment
    assert np.max(clipped) < 0.01
    kept = built(monotonic(inference="soft"), query, value)
    kept.set_weights(layer.get_weights())
    assert_close(kept.attend(query[:, 0], memory, list(state)).alignment, last, 1e-2)


class Around(keras.layers.Layer):
    """A user's layer with a loop of its own, which does not pass `training` on."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def build(self, query_shape, value_shape):
        self.attention.build(query_shape, value_shape)

    def call(self, query, value, training=None):
        memory = self.attention.prepare(value)
        state = self.attention.initial_state(memory)
        for t in range(3):
            attended = self.attention.attend(query[:, t], memory, state)
            state = attended.state
        return attended.alignment


@pytest.mark.parametrize("policy", ["float32", "mixed_float16", "float64"])
def test_steps_inside_a_layer_know_whether_it_trains(policy):
    keras.config.set_dtype_policy(policy)
    query, value = sequences()
    layer = monotonic()
    around = Around(layer)
    built(around, query, value)

    def is_hard(alignment):
        return set(np.unique(alignment)) <= {0.0, 1.0}

    def steps(training):
        return attend_all(layer, query, value, training=training)[1][:, -1]

    assert is_hard(around(query, value))
    assert is_hard(around(query, value, training=False))
    trained = around(query, value, training=True)
    assert not is_hard(trained)
    np.testing.assert_array_equal(trained, steps(training=True))
    assert is_hard(steps(training=None))  # no layer around it: inference

    inputs = keras.Input((3, 4)), keras.Input((None, 6))
    model = keras.Model(inputs, around(*inputs))
    seen = []

    def loss(target, alignment):
        tf.py_function(lambda a: seen.append(np.asarray(a)), [alignment], [])
        return ops.mean(ops.square(alignment))

    model.compile("sgd", loss=loss, jit_compile=False)
    target = np.zeros((4, 5))
    model.fit((query, value), target, verbose=0)
    model.evaluate((query, value), target, verbose=0)
    trained, evaluated = seen
    assert not is_hard(trained)
    assert is_hard(evaluated)


def test_alignments_are_not_rounded_on_the_way():
    keras.config.set_dtype_policy("mixed_float16")
    query, value = sequences()
    layer = built(monotonic(inference="soft"), query, value)
    memory = layer.prepare(value, MASK)
    state = layer.attend(query[:, 0], memory, layer.initial_state(memory)).state
    assert state.own.dtype == "float32"
    half = np.asarray(state.own).astype("float16").astype("float32")
    assert not np.array_equal(state.own, half)


def long_sequences(source):
    random = np.random.default_rng(source)
    query = random.normal(size=(2, 4, 4)).astype("float32")
    return query, random.normal(size=(2, source, 6)).astype("float32")


def decoder_step(decoder):
    def step(query, value):
        with tf.GradientTape() as tape:
            outputs, alignments = decoder(
                query, value, return_attention_scores=True, training=True
            )
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(alignments[..., -1])
        return alignments, tape.gradient(loss, decoder.trainable_variables)

    return step


@pytest.mark.parametrize("jit_compile", [False, True])
def test_one_trace_of_a_decoder_for_all_lengths(jit_compile):
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(6, monotonic(score_bias=-1.0)))
    built(decoder, *long_sequences(5))
    eager, traces = decoder_step(decoder), []

    def counted(query, value):
        traces.append(len(traces))
        return eager(query, value)

    compiled = tf.function(
        counted,
        jit_compile=jit_compile,
        input_signature=[
            tf.TensorSpec((None, None, 4)),
            tf.TensorSpec((None, None, 6)),
        ],
    )
    for source in (1, 8, 35):
        given = long_sequences(source)
        (alignment, found), (expected, wanted) = compiled(*given), eager(*given)
        assert_close(alignment, np.asarray(expected), 1e-5)
        for gradient, want in zip(found, wanted, strict=True):
            largest = np.max(np.abs(want)) + 1e-3
            assert_close(gradient, np.asarray(want), 1e-4 * largest)
    assert len(traces) == 1


def test_never_goes_back_and_ends_behind_the_end():
    query, value = sequences(target=12, seed=3)
    layer = built(monotonic(), query, value, scale=2.0)
    _, hard = layer(query, value, value_mask=MASK, return_attention_scores=True)
    for row in np.asarray(hard):
        reads = row.any(axis=-1)
        where = row.argmax(axis=-1)[reads]
        assert np.all(np.diff(where) >= 0)
        assert not np.any(np.diff(reads.astype(int)) > 0)  # no return from the end


def test_score_bias_is_where_r_starts():
    layer = monotonic(score_bias=-4.0)
    layer.build((None, 4), (None, None, 6))
    assert_close(layer.r, -4.0)
    assert any(weight is layer.r for weight in layer.trainable_weights)


def test_noise_is_for_training_and_drawn_anew_for_every_step():
    query, value = sequences()
    query = np.repeat(query[:, :1], 3, axis=1)
    noisy = built(monotonic(noise=2.0, inference="soft", seed=3), query, value)
    calm = built(monotonic(inference="soft"), query, value)
    assert_close(noisy(query, value), np.asarray(calm(query, value)))
    quiet = np.asarray(calm(query, value, return_attention_scores=True)[1])

    def call():
        return noisy(query, value, return_attention_scores=True, training=True)[1]

    graph, xla = tf.function(call), tf.function(call, jit_compile=True)
    for function in (call, graph, xla):
        first, second = np.asarray(function()), np.asarray(function())
        assert not np.allclose(first, second)
        louder = first > quiet  # equal queries: equal noise would show in every step
        assert not np.array_equal(louder[:, 0], louder[:, 1])


def test_beams():
    assert_beams_are_independent(monotonic())
    assert_beams_are_independent(monotonic(inference="soft"))


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_trains(policy):
    _, found = assert_trains_in_a_decoder(monotonic, policy=policy)
    assert any(name.endswith("/r") and np.any(g) for name, g in found.items())


def test_certain_choices_have_finite_gradients():
    query, value = sequences()
    layer = built(monotonic(), query, value)
    layer.r.assign(200.0)  # p = 1 in float32
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(query, value, value_mask=MASK, training=True))
    found = tape.gradient(loss, layer.trainable_weights)
    assert all(np.isfinite(g).all() for g in found)


def test_a_past_inside_is_nested():
    query, value = sequences()
    inner = ks.layers.CoverageAttention(3)
    layer = built(ks.layers.MonotonicAttention(inner, inference="soft"), query, value)
    _, alignments, state = attend_all(layer, query, value, MASK)
    assert_close(state.inner, alignments.sum(axis=1))
    assert_close(state.own, alignments[:, -1])
    whole = layer(query, value, value_mask=MASK, return_attention_scores=True)[1]
    assert_close(whole, alignments)


def test_saving_keeps_everything(tmp_path):
    query, value = sequences()
    layer = monotonic(
        noise=0.5, score_bias=-1.0, inference="soft", form="closed", seed=7
    )
    inputs = keras.Input((None, 4)), keras.Input((None, 6))
    model = keras.Model(inputs, layer(*inputs))
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(model([query, value]), reloaded([query, value]))
    assert reloaded.layers[-1].get_config() == layer.get_config()


def test_messages():
    text = message(monotonic, inference="harsh")
    assert "MonotonicAttention got an unknown inference." in text
    assert "MonotonicAttention got an unknown form." in message(monotonic, form="open")
    assert message(monotonic, noise=-1) == (
        "MonotonicAttention got a negative noise. Expected a standard deviation >= 0, "
        "received noise=-1. Use 0 to switch it off."
    )
