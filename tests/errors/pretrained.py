"""Backbones, encoders and optimizers that do not fit each other, and their errors."""

import sys
from unittest import mock

import keras
from keras import layers

import keras_seqattn as ks
from keras_seqattn.layers import PretrainedEncoder
from tests import hub
from tests.errors.valid_arguments import UNITS, bahdanau_cell, ones


def seq2seq(encoder, source_embedding=None, **options):
    options = {"target_embedding": layers.Embedding(9, 4), **options}
    return ks.Seq2Seq(
        source_embedding,
        encoder,
        decoder=ks.AttentionDecoder(bahdanau_cell()),
        head=ks.layers.OutputHead(9),
        **options,
    )


def reader(**options):
    ids = keras.Input((None,), dtype="int32")
    return PretrainedEncoder(keras.Model(ids, layers.Embedding(20, 4)(ids)), **options)


def of(shape, *more, pooled=False):
    """An encoder whose backbone has inputs of some shapes."""
    inputs = [keras.Input(x) for x in (shape, *more)]
    values = layers.Dense(4)(inputs[0])
    if pooled:
        values = layers.GlobalAveragePooling1D()(values)
    return lambda: PretrainedEncoder(keras.Model(inputs, values))


def with_a_decoder():
    names = ("encoder_token_ids", "decoder_token_ids")
    inputs = {x: keras.Input((None,), dtype="int32", name=x) for x in names}
    values = layers.Embedding(9, 4)(inputs["encoder_token_ids"])
    return PretrainedEncoder(keras.Model(inputs, values))


def without_the_package():
    with mock.patch.dict(sys.modules, {"keras_hub": None}):
        PretrainedEncoder.from_preset("bert_base_en")


PRETRAINED = {
    "PretrainedEncoder got an unusable backbone ... received 'bert'": lambda: (
        PretrainedEncoder("bert")
    ),
    "PretrainedEncoder got an unusable backbone ... inputs of shape (None, 8, 8, 3)": (
        of((8, 8, 3))
    ),
    "PretrainedEncoder got an unusable backbone ... results of shape (None, 4) for 4 "
    "positions": of((None, 3), pooled=True),
    "PretrainedEncoder got an unusable backbone ... a model with 2 inputs without "
    "names": of((None, 3), (None, 3)),
    "PretrainedEncoder got a backbone with inputs that it cannot fill ... received "
    "['decoder_token_ids', 'encoder_token_ids']. Of a model with a": with_a_decoder,
    "PretrainedEncoder got an unusable learning_rate_scale ... received "
    "learning_rate_scale=0": lambda: reader(learning_rate_scale=0),
    "PretrainedEncoder got more positions than its backbone has learned. Expected at "
    "most 12, received 13 positions ... max_source=11": lambda: PretrainedEncoder(
        hub.bert()
    )(ones(1, 13).astype("int32")),
    "PretrainedEncoder.from_preset needs a package that is not installed ... "
    'keras-hub ... pip install "keras_seqattn[hub]"': without_the_package,
    "Seq2Seq got source_embedding=None for an encoder that needs one ... received "
    "<BiEncoder": lambda: seq2seq(ks.BiEncoder(UNITS)),
    "Seq2Seq got a source_embedding that PretrainedEncoder does not need": lambda: (
        seq2seq(reader(), layers.Embedding(20, 4))
    ),
    "Seq2Seq got no target_embedding, and no source_embedding to share": lambda: (
        seq2seq(reader(), target_embedding=None)
    ),
    "Seq2Seq got source_word_dropout without a source_embedding": lambda: seq2seq(
        reader(), source_word_dropout=0.1
    ),
    "Seq2Seq got an optimizer that has one learning rate only. Expected FusedAdam, "
    "which reads the learning_rate_scale of each variable, received 'adam'": lambda: (
        seq2seq(reader(learning_rate_scale=0.1)).compile("adam", "auto")
    ),
}
