"""Data that a model of tokens converts, warns about, or refuses while it trains."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.errors.models import (
    INPUTS,
    LABELS,
    SOURCE,
    TARGET,
    compiled,
    generator,
    seq2seq,
)

AS_LISTS = [[5, 6, 2], [7, 2]], [[1, 7, 8], [1, 4]], [[7, 8, 2], [4, 2]]


def ragged_dataset():
    source, target, labels = map(tf.ragged.constant, AS_LISTS)
    inputs = {"source": source, "target": target}
    return tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(2)


def lists(convert):
    source, target, labels = map(convert, AS_LISTS)
    return {"source": source, "target": target}, labels


CONVERTED = {
    "lists": lambda: lists(list),
    "objects": lambda: lists(lambda rows: np.array(rows, object)),
    "ragged": lambda: lists(tf.ragged.constant),
    "ragged dataset": lambda: [ragged_dataset()],
    "generator": lambda: [generator(0, *lists(list))],
    "unread labels": lambda: [INPUTS, np.where(TARGET == 0, -100, LABELS)],
}


@pytest.mark.parametrize("make", CONVERTED.values(), ids=CONVERTED)
def test_what_is_converted_is_padded(make):
    expected = compiled().evaluate(INPUTS, LABELS, verbose=0)
    received = compiled().evaluate(*make(), steps=1, verbose=0)
    np.testing.assert_allclose(received, expected, rtol=1e-6)


def test_nested_lists_in_a_call():
    """Equal or not, on a model that is not compiled."""
    source, target, _ = AS_LISTS
    logits = seq2seq()({"source": source, "target": target})
    assert logits.shape == (2, 3, 9)


LOSSES = {
    "ours": lambda: "auto",
    "stock": lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_weights_of_sentences_are_weights_of_their_tokens(loss):
    model = seq2seq()
    model.compile(loss=loss())
    weights = np.array([2.0, 0.5], "float32")
    tokens = np.repeat(weights[:, None], 3, axis=1)
    expected = model.test_on_batch(INPUTS, LABELS, tokens)
    assert not np.isclose(expected, model.test_on_batch(INPUTS, LABELS))
    for data in [INPUTS, LABELS, weights], [INPUTS, LABELS, weights.tolist()]:
        np.testing.assert_allclose(model.test_on_batch(*data), expected, rtol=1e-6)
    batches = tf.data.Dataset.from_tensors((INPUTS, LABELS, weights))
    received = model.evaluate(batches, verbose=0)
    np.testing.assert_allclose(received, expected, rtol=1e-6)


def test_labels_that_are_the_inputs():
    with pytest.warns(UserWarning, match=r"labels that equal .* labels=ids\[:, 1:\]"):
        compiled().train_on_batch(INPUTS, TARGET)


# Losses by name -----------------------------------------------------------------------

NAMED = {
    "auto": ks.losses.FusedCrossentropy,
    "sparse_categorical_crossentropy": ks.losses.FusedCrossentropy,
    "SparseCategoricalCrossentropy": ks.losses.FusedCrossentropy,
    "categorical_crossentropy": keras.losses.CategoricalCrossentropy,
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("kind", ["Seq2Seq", "ScheduledSampling"])
def test_a_name_means_a_loss_of_logits(name, kind):
    model = seq2seq()
    if kind == "ScheduledSampling":
        model = ks.models.ScheduledSampling(model, ks.models.ConstantProbability(0.5))
    model.compile("sgd", loss=name)
    assert isinstance(model.loss, NAMED[name])
    assert getattr(model.loss, "from_logits", True)


@pytest.mark.parametrize(
    "loss",
    [
        keras.losses.SparseCategoricalCrossentropy(),
        keras.losses.CategoricalCrossentropy(),
        keras.losses.sparse_categorical_crossentropy,
        ks.losses.SmoothedCrossentropy(from_logits=False),
    ],
)
def test_a_loss_of_probabilities_warns(loss):
    with pytest.warns(UserWarning, match="got a loss of probabilities") as warned:
        seq2seq().compile("sgd", loss)
    assert len(warned) == 1
    assert warned[0].filename == __file__


# Parts --------------------------------------------------------------------------------


@keras.saving.register_keras_serializable("tests")
class Own(keras.layers.Layer):
    """An encoder of another class than the library's."""

    supports_masking = True

    def compute_mask(self, inputs, mask=None):
        return ks.types.Encoded(mask, None, None)

    def compute_output_shape(self, shape):
        return ks.types.Encoded(shape, shape[:2], [(shape[0], shape[2])])

    def call(self, inputs, mask=None, training=None):
        return ks.types.Encoded(inputs, mask, [inputs[:, 0]])


def test_an_encoder_of_another_class():
    model = seq2seq(encoder=Own())
    assert ks.decode(model, SOURCE, ks.Greedy(), 3).tokens.shape[0] == 2
