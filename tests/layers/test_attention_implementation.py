"""`implementation`: which of the two scores an attention layer runs."""

from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.ops.fast import chunks, score
from keras_seqattn.testing.compare import gradients, same, same_gradients
from tests.layers.mechanism_cases import MASK, built, message, sequences
from tests.structure.graphs import operations

WITH_FAST = {
    "bahdanau": lambda **kwargs: ks.BahdanauAttention(6, **kwargs),
    "normalized": lambda **kwargs: ks.BahdanauAttention(6, normalize=True, **kwargs),
    "concat": lambda **kwargs: ks.LuongAttention("concat", units=6, **kwargs),
    "multi_head": lambda **kwargs: ks.layers.MultiHeadAdditiveAttention(
        6, heads=2, **kwargs
    ),
}
WITHOUT = {
    "dot": lambda **kwargs: ks.LuongAttention("general", **kwargs),
    "projected_dot": lambda **kwargs: ks.layers.ProjectedDotAttention(6, **kwargs),
    "one_layer": ks.layers.OneLayerAttention,
    "coverage": lambda **kwargs: ks.layers.CoverageAttention(6, **kwargs),
    "location": lambda **kwargs: ks.layers.LocationSensitiveAttention(
        6, 2, 3, **kwargs
    ),
}
CALLS = {
    name: mock.patch.object(score, name, side_effect=getattr(score, name))
    for name in ("additive_score", "multi_head_additive_score")
}


def runs_fast(layer, *arguments, **options):
    """Whether the fast score is called, whatever it is called for."""
    layer(*arguments, **options)
    with CALLS["additive_score"] as one, CALLS["multi_head_additive_score"] as many:
        layer(*arguments, **options)
    return one.called or many.called


@pytest.mark.parametrize("name", WITH_FAST)
def test_reference_and_fast_are_what_they_say(name):
    arguments = sequences()
    assert runs_fast(WITH_FAST[name](implementation="fast"), *arguments)
    assert not runs_fast(WITH_FAST[name](implementation="reference"), *arguments)


@pytest.mark.parametrize("name", WITH_FAST)
def test_auto_goes_by_size(name):
    query, value = sequences()
    assert not runs_fast(WITH_FAST[name](), query, value)
    with mock.patch.object(score, "LARGE", 100):  # as if it were a long one
        assert runs_fast(WITH_FAST[name](), query, value)
        layer = built(WITH_FAST[name](), query, value)
        memory = layer.prepare(value[:, :2])
        with CALLS["additive_score"] as one, CALLS["multi_head_additive_score"] as many:
            layer.attend(query[:, 0], memory)  # a short step
        assert not (one.called or many.called)


@given(
    target=st.integers(1, 9),
    lengths=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    query_lengths=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    name=st.sampled_from(list(WITH_FAST)),
)
def test_any_lengths_and_nan_in_the_padding(target, lengths, query_lengths, name):
    query, value = sequences(target)
    mask = np.arange(5) < np.array(lengths)[:, None]
    query_mask = np.arange(target) < np.array(query_lengths)[:, None]
    arguments = {
        "query": np.where(query_mask[..., None], query, np.float32("nan")),
        "value": np.where(mask[..., None], value, np.float32("nan")),
        "query_mask": query_mask,
        "value_mask": mask,
        "return_attention_scores": True,
    }
    layers = [
        built(WITH_FAST[name](implementation=which, name=name), query, value)
        for which in ("reference", "fast")
    ]
    with mock.patch.object(chunks, "ENTRIES", 200):
        (expected, wanted), (received, found) = (
            gradients(layer, arguments) for layer in layers
        )
    same(expected, received, 1e-5, "fast")
    same_gradients(wanted, found, 1e-5, "fast")
    assert all(np.isfinite(x).all() for x in [*received, *found.values()])


@pytest.mark.parametrize("implementation", ["reference", "fast"])
def test_a_decoder_keeps_no_hidden_layer(implementation):
    """What its steps leave for the gradient: the tanh, or what makes it again."""
    query, value = sequences(target=7)
    attention = ks.BahdanauAttention(3, implementation=implementation)
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(5, attention))
    decoder(query, value)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(decoder(query, value, value_mask=MASK) ** 2)
        return tape.gradient(loss, decoder.trainable_variables)

    kept = [
        tuple(operation.inputs[1].shape)
        for operation in operations(step.get_concrete_function().graph)
        if operation.type == "TensorListPushBack"
    ]
    assert kept  # as TensorFlow calls it
    assert ((4, 5, 3) in kept) == (implementation == "reference")


def test_is_in_the_configuration():
    layer = ks.BahdanauAttention(6, implementation="reference")
    config = keras.saving.serialize_keras_object(layer)
    assert config["config"]["implementation"] == "reference"
    again = keras.saving.deserialize_keras_object(config)
    assert again.implementation == "reference"
    del config["config"]["implementation"]  # as it was saved by the versions before
    assert keras.saving.deserialize_keras_object(config).implementation == "auto"


@pytest.mark.parametrize("name", WITHOUT)
def test_there_is_no_fast_one(name):
    layer = WITHOUT[name](implementation="fast")
    assert message(layer.build, (None, 3, 4), (None, 5, 6)) == (
        f"{type(layer).__name__} cannot run its fast implementation. Expected a call "
        "that it supports, received one where the score has the readable form only. "
        "Pass implementation='auto', which takes the readable one here."
    )


def test_unknown():
    assert message(ks.BahdanauAttention, 6, implementation="quick") == (
        "BahdanauAttention got an unknown implementation. Expected one of ['auto', "
        "'reference', 'fast'], received implementation='quick'. Pass 'auto', which "
        "takes the fast one where it can."
    )
