"""A translator of KerasHub's tokenizer, a pretrained encoder, and our decoder."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers import DenseBridge, PretrainedEncoder
from keras_seqattn.text import Characters, HubTokenizer
from tests import hub
from tests.errors.valid_arguments import UNITS, bahdanau_cell
from tests.raised import check_error

PAIRS = [(f"the {a} {b}", f"{b}{a}") for a in "abcd" for b in "efgh"]
TARGET_TEXT = Characters.learn([target for _, target in PAIRS])


def translator(size=70, source_text=None, target_text=TARGET_TEXT):
    tokenizer = hub.bert_tokenizer(lowercase=True)
    source_text = source_text or HubTokenizer(tokenizer, use_start=True)
    model = ks.Seq2Seq(
        source_embedding=None,
        encoder=PretrainedEncoder(hub.bert(size), learning_rate_scale=0.5),
        bridge=DenseBridge(UNITS, inputs="mean"),
        target_embedding=keras.layers.Embedding(target_text.vocabulary_size, 4),
        decoder=ks.AttentionDecoder(bahdanau_cell()),
        head=ks.layers.OutputHead(target_text.vocabulary_size),
    )
    return ks.Translator(model, source_text, target_text, max_length=5)


@pytest.fixture(scope="module")
def trained():
    made = translator()
    made.model.compile(ks.optimizers.FusedAdam(1e-2), loss="auto", run_eagerly=True)
    dataset = made.dataset(PAIRS, batch_size=8)
    made.model.fit(dataset, shuffle=False, verbose=0)
    return made


def test_trains_translates_and_is_saved(trained, tmp_path):
    translation = trained("The a e")
    tokens = [
        (token.piece, token.start, token.end) for token in translation.source_tokens
    ]
    words = [("the", 0, 3), ("a", 4, 5), ("e", 6, 7)]
    assert tokens == [("[CLS]", 0, 0), *words, ("[SEP]", 7, 7)]
    trained.save(tmp_path / "translator")
    again = ks.Translator.load(tmp_path / "translator")("The a e")
    assert again.text == translation.text
    np.testing.assert_array_equal(again.alignment, translation.alignment)


def test_a_text_is_cut_to_the_positions_of_the_backbone(trained):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(trained("a " * 30).source_tokens) == 12
    assert "at most max_source=11 tokens" in str(caught[-1].message)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_is_exported(trained, tmp_path, weights):
    trained.export(tmp_path / "saved", weights=weights)
    serve = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    assert serve(tf.constant(["The a e", "the b f"]))["text"].shape == [2]


def test_what_does_not_fit():
    check_error(
        lambda: translator(size=50),
        "Translator got a source_text that does not fit the model. Expected a "
        "vocabulary of 50 tokens",
    )
    tokenizer = HubTokenizer(hub.bert_tokenizer(), use_start=True)
    check_error(
        lambda: translator(target_text=tokenizer),
        "Translator got a target_text that writes the start token itself",
        "use_start=True. Make another processor",
    )
