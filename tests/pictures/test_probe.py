"""Pictures of a probe: windows of local attention, a shortlist."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.local_attention import predicted_centres
from keras_seqattn.pictures.centres import local_attention
from keras_seqattn.pictures.probe import Probe
from tests.tensorboard.logs import REFERENCES, SENTENCES, compiled
from tests.translator import tiny

SEARCHES = {"greedy": ks.Greedy(), "beam": ks.BeamSearch(3, n_best=3)}


@functools.cache
def local(position, search):
    attention = ks.LuongAttention("general")
    attention = ks.layers.LocalAttention(attention, window=1, position=position)
    return compiled(attention, search=SEARCHES[search])


def callback(translator, folder):
    texts = SENTENCES, REFERENCES
    return ks.callbacks.AttentionCallback(translator, *texts, log_dir=folder)


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
    text = translator.target_text
    known = text.pieces(tf.range(text.vocabulary_size)).numpy().tolist()
    return [known.index(piece.encode()) for piece, *_ in hypothesis["tokens"]]


def test_monotonic(tmp_path):
    for picture in callback(local("monotonic", "beam"), tmp_path).probe.pictures():
        for said in picture["hypotheses"]:
            assert said["centre"] == list(range(said["shape"][1]))
            assert_in_window(said)


@pytest.mark.parametrize("search", SEARCHES)
def test_predictive(search, tmp_path):
    translator = local("predictive", search)
    found = callback(translator, tmp_path).probe.pictures()
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
    translator = local("predictive", "greedy")
    weights = translator.model.get_weights()
    translator.model.set_weights([w * np.nan for w in weights])
    shown = callback(translator, tmp_path)
    for picture in shown.probe.pictures():
        assert [said["centre"] for said in picture["hypotheses"]][-1] is None
    shown.write(0)
    translator.model.set_weights(weights)


def test_centres_are_those_of_local_attention_and_only_told_if_asked():
    assert local_attention(tiny.untrained().model) is None
    assert local_attention(object()) is None  # a StepModel need not be a layer
    attention = local("predictive", "greedy").model.decoder.cell.attention
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


def test_a_shortlist_counts_in_pictures():
    source, target = tiny.texts()
    model = tiny.model(source, target)
    pairs = ks.data.encode(tiny.PAIRS, source, target)
    options = {"search": ks.Greedy(), "max_length": 7}
    shortlist = ks.decoding.Shortlist.learn(model, pairs, per_token=1, common=0, size=5)
    short = ks.Translator(model, source, target, shortlist=shortlist, **options)
    whole = ks.Translator(model, source, target, **options)
    expected = short.translate(tiny.SOURCES).texts
    assert expected != whole.translate(tiny.SOURCES).texts
    pictures = Probe(short, ks.Greedy(), tiny.SOURCES).pictures()
    assert [p["hypotheses"][0]["text"] for p in pictures] == expected


def test_blank_sentences_have_the_empty_translation():
    attention = ks.layers.MultiHeadAdditiveAttention(8, heads=2)
    made = tiny.translator(*tiny.texts(), attention=attention)
    *blank, other = Probe(made, tiny.BEAM, ["", " \t", "ab"]).pictures()
    for picture, translation in zip(blank, made(["", " \t"]), strict=True):
        [said] = picture["hypotheses"]
        assert (said["text"], said["score"], said["ranking"]) == ("", 0.0, 0.0)
        assert said["tokens"] == [["</s>", 0, 0]]
        np.testing.assert_array_equal(said["weights"], [translation.alignment] * 2)
    assert len(other["hypotheses"]) == 2 and other["hypotheses"][0]["score"] < 0
