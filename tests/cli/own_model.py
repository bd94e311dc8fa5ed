"""A model of one's own, for `--model tests.cli.own_model.tiny`."""

import keras

import keras_seqattn as ks


def tiny(source_vocabulary, target_vocabulary, units=4):
    return ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(source_vocabulary, units),
        encoder=ks.BiEncoder(units),
        bridge=ks.layers.DenseBridge(units),
        target_embedding=keras.layers.Embedding(target_vocabulary, units),
        decoder=ks.AttentionDecoder(
            ks.layers.BahdanauCell(units, attention=ks.BahdanauAttention(units))
        ),
        head=ks.layers.OutputHead(target_vocabulary),
    )
