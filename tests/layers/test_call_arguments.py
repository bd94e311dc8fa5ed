"""Sources with their padding: `Encoded`, ragged, or of an Embedding without a mask."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.testing.case import save_and_load

LENGTHS = [4, 2]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]
BESIDE = np.array([[0, 1, 1, 1]] * 2, bool)
QUERY, VALUE = (np.random.default_rng(0).normal(size=(2, n, 6)) for n in (3, 4))
ENCODED = ks.types.Encoded(VALUE, MASK, [])
CALLED = {
    "attention": lambda: ks.BahdanauAttention(5),
    "decoder": lambda: ks.AttentionDecoder(ks.layers.LuongCell(5, ks.LuongAttention())),
}
equal = np.testing.assert_array_equal


@pytest.mark.parametrize("name", CALLED)
def test_encoded_brings_its_mask(name):
    layer = CALLED[name]()
    equal(layer(QUERY, ENCODED), layer(QUERY, VALUE, value_mask=MASK))
    equal(layer.prepare(ENCODED).mask, MASK)


@pytest.mark.parametrize("own, real", [(MASK, MASK & BESIDE), (None, BESIDE)])
def test_a_mask_beside_encoded_masks_even_more(own, real):
    layer, given = CALLED["attention"](), ENCODED._replace(mask=own)
    expected = layer(QUERY, VALUE, value_mask=real)
    equal(layer(QUERY, value=given, value_mask=BESIDE), expected)


def test_ragged_tensors_are_padded():
    layer = CALLED["attention"]()
    ragged = tf.RaggedTensor.from_tensor(VALUE, lengths=LENGTHS)
    equal(layer(QUERY, ragged), layer(QUERY, VALUE, value_mask=MASK))
    context = layer(ragged, VALUE)  # a ragged query
    assert not np.any(np.asarray(context)[~MASK])
    equal(context._keras_mask, MASK)


def functional(mask_zero=False, encoder_mask=False, **masks):
    """Ids to contexts, by way of an `Embedding` and an encoder."""
    ids, query = keras.Input((4,), dtype="int32"), keras.Input((3, 6))
    embedded = keras.layers.Embedding(9, 4, mask_zero=mask_zero, name="words")(ids)
    mask = {"mask": ids != 0} if encoder_mask else {}
    encoded = ks.BiEncoder(3)(keras.layers.Dropout(0.1)(embedded), **mask)
    masks = {name: ids != 0 for name in masks}
    return keras.Model([query, ids], CALLED["attention"]()(query, encoded, **masks))


def test_ids_without_a_mask_get_a_warning():
    text = (
        "BahdanauAttention got a value without a mask. Expected the mask of its "
        "padding, received values of the Embedding 'words' with mask_zero=False. Pass "
        "mask_zero=True to the Embedding, so that the layers between skip the padding, "
        "too; ignore this if "
        "there is no padding."
    )
    with pytest.warns(UserWarning) as caught:
        functional()
    assert [str(warning.message) for warning in caught] == [text]
    with pytest.warns(UserWarning, match="got a value without a mask"):
        values = keras.layers.Embedding(9, 4)(keras.Input((4,), dtype="int32"))
        CALLED["attention"]()(keras.Input((3, 6)), values)


@pytest.mark.parametrize("known", ["mask_zero", "encoder_mask", "value_mask"])
def test_a_functional_model_with_a_mask_gets_none(known):
    model = functional(**{known: True})  # a warning is an error
    arguments = QUERY, np.array([[3, 4, 5, 6], [7, 8, 0, 0]])
    equal(save_and_load(model)(arguments), model(arguments))
