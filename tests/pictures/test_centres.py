"""The windows of local attention in pictures."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.local_attention import predicted_centres
from keras_seqattn.pictures.centres import local_attention
from tests.tensorboard.translators import REFERENCES, SENTENCES, compiled

SEARCHES = {"greedy": ks.Greedy(), "beam": ks.BeamSearch(3, n_best=3)}


def local(position, search="greedy"):
    attention = ks.LuongAttention("general")
    return compiled(
        ks.layers.LocalAttention(attention, window=1, position=position),
        search=SEARCHES[search],
    )


def pictures(translator, folder):
    shown = ks.callbacks.AttentionCallback(
        translator, SENTENCES, REFERENCES, log_dir=folder
    )
    return shown.probe.pictures()


def by_hand(translator, text, said):
    """Compute p_t from the states before each token."""
    model, ids = translator.model, translator.source_text.encode(tf.constant([text]))
    end = translator.source_text.tokens.end
    state, memory = model.start(tf.constant([[*ids.numpy()[0], end]]))
    attention, found = model.decoder.cell.attention, []
    for token in [translator.target_text.tokens.start, *said[:-1]]:
        query = model.decoder.cell.recurrence.output_of(state.recurrent)
        found.append(float(attention.predict_position(query, memory)[0]))
        state = model.step(tf.constant([token]), state, memory).state
    return found


def ids_of(translator, hypothesis):
    """Of the pieces, the end token included."""
    known = translator.target_text.pieces(
        tf.range(translator.target_text.vocabulary_size)
    )
    known = [piece.decode() for piece in known.numpy()]
    return [known.index(piece) for piece, *_ in hypothesis["tokens"]]


def test_monotonic(tmp_path):
    for picture in pictures(local("monotonic", "beam"), tmp_path):
        for said in picture["hypotheses"]:
            assert said["centre"] == list(range(said["shape"][1]))
            assert_in_window(said)


@pytest.mark.parametrize("search", SEARCHES)
def test_predictive(search, tmp_path):
    """The centres equal `predict_position` for all hypotheses and references."""
    translator = local("predictive", search)
    found = pictures(translator, tmp_path)
    kinds = [said["kind"] for said in found[0]["hypotheses"]]
    assert kinds == [*["free"] * {"greedy": 1, "beam": 3}[search], "forced"]
    for picture, text in zip(found, SENTENCES, strict=True):
        for said in picture["hypotheses"]:
            expected = by_hand(translator, text, ids_of(translator, said))
            assert np.allclose(np.array(said["centre"]) + 1, expected, atol=1e-4)
            assert np.ptp(said["centre"]) > 1e-3  # it does depend on the query
            assert_in_window(said)


def assert_in_window(said):
    weights = said["weights"][0]
    assert said["reach"] == 1
    distances = abs(np.arange(weights.shape[1]) - np.array(said["centre"])[:, None])
    assert not weights[distances > 1 + 1e-3].any()
    assert (weights[distances < 1 - 1e-3] > 0).all()


def test_positions_that_are_no_numbers(tmp_path):
    """A diverged model has no centres; pictures and log continue."""
    translator = local("predictive")
    weights = translator.model.get_weights()
    translator.model.set_weights([w * np.nan for w in weights])
    shown = ks.callbacks.AttentionCallback(
        translator, SENTENCES, REFERENCES, log_dir=tmp_path
    )
    for picture in shown.probe.pictures():
        assert [said["centre"] for said in picture["hypotheses"]][-1] is None
    shown.write(0)


def test_other_attention_has_no_centres(tmp_path):
    translator = compiled(search=ks.Greedy())
    assert local_attention(translator.model) is None
    assert local_attention(object()) is None  # a StepModel need not be a layer
    for picture in pictures(translator, tmp_path):
        for said in picture["hypotheses"]:
            assert said["centre"] is said["reach"] is None


def test_nobody_listens_unless_asked():
    attention = local("predictive").model.decoder.cell.attention
    memory = attention.prepare(tf.ones([1, 4, 32]))
    query = tf.ones([1, 16])
    with predicted_centres() as outer:
        attention.attend(query, memory)
        with predicted_centres() as inner:
            attention.attend(query, memory)
    attention.attend(query, memory)
    expected = attention.predict_position(query, memory)
    np.testing.assert_array_equal(outer, [expected])
    np.testing.assert_array_equal(inner, [expected])
