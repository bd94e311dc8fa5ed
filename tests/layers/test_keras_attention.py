"""Keras's own attention layers: our mechanisms called as they are, and around them."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import keras_seqattn as ks
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from keras_seqattn.testing.sequences import decoder_stepwise
from tests.layers.mechanism_cases import MASK as ROWS
from tests.layers.mechanism_cases import MECHANISMS, assert_close, of_row

L = ks.layers
RNG = np.random.default_rng(1502)
QUERY, VALUE, KEY = (RNG.normal(size=(3, n, 6)).astype("float32") for n in (4, 5, 5))
QUERY_MASK = np.arange(4) < np.array([[4], [2], [3]])
MASK = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 1]], bool)
BESIDE = np.array([[1, 1, 0, 1, 1]] * 3, bool)
THEIRS = {
    "dot": lambda: layers.Attention(use_scale=True),
    "concat": lambda: layers.Attention(score_mode="concat", use_scale=True),
    "additive": lambda: layers.AdditiveAttention(),
    "heads": lambda: layers.MultiHeadAttention(2, 3, value_dim=5, output_shape=7),
    "gated": lambda: layers.MultiHeadAttention(2, 3, use_gate=True),
    "grouped": lambda: layers.GroupQueryAttention(3, 4, 2),
}
CALLS = {  # tensors, masks, options
    "plain": ([QUERY, VALUE], [None, None], {}),
    "masks": ([QUERY, VALUE], [QUERY_MASK, MASK], {}),
    "key": ([QUERY, VALUE, KEY], [None, MASK], {}),
    "causal": ([VALUE, VALUE, KEY], [None, None], {"use_causal_mask": True}),
    "causal, mask": ([VALUE, VALUE], [None, MASK | BESIDE], {"use_causal_mask": True}),
}


def called(layer, tensors, masks, **options):
    """Keras's layer, as it wants its arguments; zeros where no position is real."""
    if isinstance(layer, layers.Attention):
        context, alignment = layer(
            tensors, mask=masks, return_attention_scores=True, **options
        )
    else:
        query, value, *key = tensors
        options |= {"key": key[0]} if key else {}
        context, alignment = layer(
            query, value, value_mask=masks[1], return_attention_scores=True, **options
        )
    real = np.ones(tensors[0].shape[:2], bool) if masks[0] is None else masks[0]
    if masks[1] is not None and "use_causal_mask" in options:
        real = np.cumsum(masks[1], axis=1) > 0
    rows = real[:, None] if len(alignment.shape) == 4 else real
    return context * real[..., None], alignment * rows[..., None]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", THEIRS)
def test_a_mechanism_of_a_keras_layer_equals_it(name, call):
    tensors, masks, options = CALLS[call]
    theirs = THEIRS[name]()
    expected = called(theirs, tensors, masks, **options)
    ours = L.KerasAttention(theirs)  # with its weights
    given = {"mask": masks, "return_attention_scores": True, **options}
    received = ours(tensors, **given)
    same(flat(expected), flat(received), 1e-6, name)
    hidden = [*tensors]
    if masks[1] is not None and tensors[1] is VALUE and tensors[0] is QUERY:
        hidden[1:] = [np.where(MASK[..., None], x, np.nan) for x in tensors[1:]]
        same(flat(ours(hidden, **given)), flat(received), 0, "NaN in the padding")


OURS = {  # these layers of Keras can have the same weights
    "dot": lambda: L.LuongAttention("dot", scale=True),
    "heads": lambda: L.MultiHeadAttention(6, heads=2, value_units=7),
}


def slopes(call, tensors):
    """Gradients of a function with regard to all tensors."""
    tensors = [tf.convert_to_tensor(x) for x in tensors]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        loss = sum(tf.reduce_sum(x**2) for x in call(tensors))
    return tape.gradient(loss, tensors)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", OURS)
def test_our_mechanisms_take_what_keras_layers_take(name, call):
    """With gradients, and in a Functional model that is saved."""
    tensors, masks, options = CALLS[call]
    theirs, ours = layers.MultiHeadAttention(2, 3, output_shape=7), OURS[name]()
    theirs = THEIRS["dot"]() if name == "dot" else theirs
    given = {"mask": masks, "return_attention_scores": True, **options}
    ours(tensors, **given)
    expected = called(theirs, tensors, masks, **options)
    for part in ("query", "key", "value", "output") if name == "heads" else ():
        kernel = getattr(theirs, f"{part}_dense").kernel
        own = getattr(ours, f"{part}_projection").kernel
        own.assign(np.reshape(kernel, own.shape))
    received = ours(tensors, **given)
    same(flat(expected), flat(received), 1e-6, name)
    expected = slopes(lambda x: called(theirs, x, masks, **options), tensors)
    same(flat(expected), flat(slopes(lambda x: ours(x, **given), tensors)), 1e-5, name)
    inputs = [keras.Input(x.shape[1:]) for x in tensors]
    symbols = [
        m if m is None else keras.Input(m.shape[1:], dtype="bool") for m in masks
    ]
    model = keras.Model(
        [*inputs, *filter(lambda m: m is not None, symbols)],
        ours(inputs, **{**given, "mask": symbols}),
    )
    given = [*tensors, *[m for m in masks if m is not None]]
    same(
        flat(received), flat(save_and_load(model)(given)), 1e-6, "Functional, reloaded"
    )


WITH_KEYS = [name for name in MECHANISMS if name != "luong_location"]


@pytest.mark.parametrize("name", WITH_KEYS)
def test_scores_read_the_key_and_contexts_the_value(name):
    layer, (query, value) = MECHANISMS[name].make(), of_row(name)
    key = RNG.normal(size=value.shape).astype("float32")
    options = {"value_mask": ROWS, "return_attention_scores": True}
    _, expected = layer(query, key, **options)
    context, alignment = layer(query, value, key=key, **options)
    assert_close(alignment, expected, 0)
    if len(alignment.shape) == 3 and context.shape[-1] == value.shape[-1]:
        assert_close(alignment @ value, context)
    hidden = np.where(ROWS[..., None], key, np.nan)
    assert_close(layer(query, value, key=hidden, **options)[0], context, 0)
    memory = layer.prepare(value, ROWS, key=hidden)
    step = layer.attend(query[:, 0], memory, layer.initial_state(memory))
    assert_close(step.context, context[:, 0])


def test_the_mask_of_a_key_masks_even_more():
    layer, own = L.BahdanauAttention(5), ks.types.Encoded(KEY, BESIDE, [])
    given = {"value_mask": MASK, "return_attention_scores": True}
    received = layer(QUERY, VALUE, key=own, **given)
    assert not np.any(received[1].numpy()[:, :, 2])
    listed = layer([QUERY, ks.types.Encoded(VALUE, MASK, []), own], **given)
    named = layer(QUERY, VALUE, key=KEY, key_mask=MASK & BESIDE)
    for other in (listed[0], named):
        assert_close(other, received[0], 0)


@pytest.mark.parametrize("kind", ["bahdanau", "heads"])
def test_a_functional_model_brings_the_masks_of_its_embeddings(kind):
    """And a key may have another depth than the value."""
    ids, query = keras.Input((5,), dtype="int32"), keras.Input((4,), dtype="int32")
    embedded = [
        layers.Embedding(9, depth, mask_zero=True)(x)
        for x, depth in ((query, 6), (ids, 6), (ids, 3))
    ]
    theirs = L.KerasAttention(layers.MultiHeadAttention(2, 3))
    layer = theirs if kind == "heads" else L.BahdanauAttention(5)
    model = keras.Model([query, ids], layer(embedded, return_attention_scores=True))
    given = [QUERY_MASK.astype(int), np.where(MASK, 4, 0)]
    context, alignment = model(given)
    if kind == "heads":
        alignment = alignment[:, 0]
    assert np.array_equal(alignment.numpy() > 0, QUERY_MASK[..., None] & MASK[:, None])
    assert np.array_equal(context._keras_mask, QUERY_MASK)
    same(flat([context]), flat(save_and_load(model)(given)[:1]), 0, "reloaded")


def test_a_key_of_a_mechanism_that_builds_none_is_as_deep_as_the_value():
    class Own(ks.layers.OneLayerAttention):
        def build(self, query_shape, value_shape):
            super().build(query_shape, value_shape)

    layer = Own()
    assert_close(layer(QUERY, VALUE, key=VALUE), layer(QUERY, VALUE), 0)


def test_keras_attention_leaves_the_masks_of_its_arguments():
    value = layers.Embedding(9, 6, mask_zero=True)(np.where(MASK, 4, 0))
    layer = L.KerasAttention(layers.MultiHeadAttention(2, 3))
    layer(QUERY, value)
    memory = layer.prepare(value)  # without a mask: everything is real
    assert np.all(layer.attend(QUERY, memory).alignment > 0)
    assert np.array_equal(value._keras_mask, MASK)


def test_a_decoder_of_a_transformer_attends_with_layers_of_keras():
    decoder = L.TransformerDecoder(
        6,
        layers=1,
        heads=2,
        self_attention=L.KerasAttention(layers.GroupQueryAttention(3, 2, 1)),
        attention=L.KerasAttention(layers.MultiHeadAttention(2, 3)),
    )
    given = {"value_mask": MASK, "return_attention_scores": True}
    whole = decoder(QUERY, VALUE, **given)
    steps = decoder_stepwise(decoder, QUERY, VALUE, max_length=4, **given)
    same(flat(whole), flat(steps[:2]), 1e-5, "step by step")
