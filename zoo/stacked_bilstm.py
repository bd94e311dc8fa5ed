"""A stacked bidirectional LSTM encoder whose summary is read at every target step."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.layers import (
    AttentionDecoder,
    BiEncoder,
    ContextCell,
    DenseBridge,
    OutputHead,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

LARGE = {  # not from a paper; sizes as in the recurrent models of toolkits
    "source_vocabulary": 32_000,
    "target_vocabulary": 32_000,
    "embedding": 512,
    "units": 512,
    "encoder_layers": 2,
    "decoder_layers": 2,
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "encoder_layers": 2,
    "decoder_layers": 1,
}


@presets(large=LARGE, small=SMALL)
def stacked_bilstm(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    encoder_layers=2,
    decoder_layers=2,
    dropout=0.0,
):
    """A model without attention, which shows what a better encoder alone can do.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of each direction, and of the decoder's layers.
        encoder_layers: number of bidirectional layers.
        decoder_layers: number of layers of the decoder.
        dropout: rate for the inputs of every recurrent layer.

    Returns:
        `Seq2Seq`; its alignments are zero everywhere.

    Differences from the paper:
        There is no paper. The model stands between `cho2014` and `bahdanau2015`: both
        directions and all layers of the encoder end in one summary, which starts the
        decoder and enters it at every step. The sizes are ours.

    References:
        Schuster, Paliwal 1997, Bidirectional recurrent neural networks (the encoder).
        arXiv:1406.1078 (the summary at every step).
    """
    return Seq2Seq(
        source_embedding=keras.layers.Embedding(
            source_vocabulary,
            embedding,
            embeddings_initializer=RandomNormal(stddev=1.0),
            name="source_embedding",
        ),
        encoder=BiEncoder(
            units, cell="lstm", layers=encoder_layers, dropout=dropout, name="encoder"
        ),
        bridge=DenseBridge(  # of the final h and c of all layers and directions
            [[units, units]] * decoder_layers if decoder_layers > 1 else [units, units],
            name="bridge",
        ),
        target_embedding=keras.layers.Embedding(
            target_vocabulary,
            embedding,
            embeddings_initializer=RandomNormal(stddev=1.0),
            name="target_embedding",
        ),
        decoder=AttentionDecoder(
            ContextCell(
                units,
                cell="lstm",
                layers=decoder_layers,
                use_context=True,
                dropout=dropout,
            ),
            name="decoder",
        ),
        head=OutputHead(target_vocabulary, name="head"),
        name="stacked_bilstm",
    )


def stacked_bilstm_optimizer():
    """Adam, with gradients of norm at most 1; not from a paper."""
    return keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
