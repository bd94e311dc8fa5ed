"""The model that `recommended` chooses: its layers, with sizes for any data."""

import keras

from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BiEncoder,
    ConditionalCell,
    DeepOutputHead,
    DenseBridge,
    NormalizedEncoder,
)
from keras_seqattn.models import Seq2Seq


def recommended_model(
    source_vocabulary, target_vocabulary, units, encoder_layers=1, dropout=0.3
):
    """Return a bidirectional GRU encoder, a conditional GRU and additive attention.

    It is the model of little data (Caglayan et al. 2017): normalised annotations, and
    dropout of embeddings, annotations and outputs. One size is enough for all parts.
    The source embeddings start with entries of size 1, so that attention sets in early.
    The target embeddings are also the matrix of the logits. They start with rows of
    length 1, because larger logits would be a confident guess.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        units: size of the embeddings, of each direction of the encoder, of the
            decoder's state and of the alignment model.
        encoder_layers: number of bidirectional layers.
        dropout: rate.

    Returns:
        `Seq2Seq`.

    Example:
        >>> recommended_model(30, 40, units=8).count_params()
        3152
    """
    target_embedding = keras.layers.ReversibleEmbedding(
        target_vocabulary,
        units,
        embeddings_initializer=keras.initializers.RandomNormal(stddev=units**-0.5),
        name="target_embedding",
    )
    return Seq2Seq(
        source_embedding=keras.layers.Embedding(
            source_vocabulary,
            units,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=1.0),
            name="source_embedding",
        ),
        encoder=NormalizedEncoder(
            BiEncoder(units, cell="gru", layers=encoder_layers, dropout=dropout),
            dropout=dropout,
            name="encoder",
        ),
        bridge=DenseBridge(units, inputs="mean", name="bridge"),
        target_embedding=target_embedding,
        decoder=AttentionDecoder(
            ConditionalCell(
                units,
                attention=BahdanauAttention(units),
                cell="gru",
                dropout=dropout,
            ),
            name="decoder",
        ),
        head=DeepOutputHead(
            target_vocabulary,
            units=units,
            pieces=1,
            activation="tanh",
            embedding=target_embedding,
            dropout=dropout,
            name="head",
        ),
        name="recommended_model",
    )
