"""`implementation`: which of the two scores an attention layer runs."""

from unittest import mock

import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.ops.fast import score
from tests.layers.mechanism_cases import MASK, MECHANISMS, built, made, of_row
from tests.raised import check_error
from tests.structure.graphs import operations

WITH_FAST = ("bahdanau", "bahdanau_normalized", "luong_concat", "multi_head")
AROUND_ONE = ("local_predictive", *(n for n in MECHANISMS if n.startswith("monotonic")))
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


@pytest.mark.parametrize("name", [*WITH_FAST, *AROUND_ONE])
def test_reference_and_fast_are_what_they_say(name):
    assert runs_fast(made(name, implementation="fast"), *of_row(name))
    assert not runs_fast(made(name, implementation="reference"), *of_row(name))


@pytest.mark.parametrize("name", WITH_FAST)
def test_auto_goes_by_size(name):
    query, value = of_row(name)
    assert not runs_fast(made(name), query, value)
    with mock.patch.object(score, "LARGE", 100):  # as if it were a long one
        assert runs_fast(made(name), query, value)
        layer = built(made(name), query, value)
        memory = layer.prepare(value[:, :2])
        with CALLS["additive_score"] as one, CALLS["multi_head_additive_score"] as many:
            layer.attend(query[:, 0], memory)  # a short step
        assert not (one.called or many.called)


@pytest.mark.parametrize("implementation", ["reference", "fast"])
def test_a_decoder_keeps_no_hidden_layer(implementation):
    """What its steps leave for the gradient: the tanh, or what makes it again."""
    query, value = of_row("bahdanau", target=7)
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


OF_KERAS = {name for name in MECHANISMS if name.startswith("keras_")}  # no choice
READABLE = MECHANISMS.keys() - {*WITH_FAST, *AROUND_ONE} - OF_KERAS


@pytest.mark.parametrize("name", sorted(READABLE))
def test_there_is_no_fast_one(name):
    layer = made(name, implementation="fast")
    owner = type(getattr(layer, "attention", layer)).__name__
    check_error(
        lambda: layer.build(*(x.shape for x in of_row(name))),
        f"{owner} cannot run its fast implementation",
        "the score has the readable form only",
    )
