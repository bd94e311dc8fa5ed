"""Caglayan et al. 2017: the text-only systems of LIUM-CVC for Multi30k."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BiEncoder,
    ConditionalCell,
    ContextCell,
    DeepOutputHead,
    DenseBridge,
    NormalizedEncoder,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

# The authors' settings, wmt17-mmt, config/monomodal-en-de.conf.
PAPER = {
    "source_vocabulary": 10_000,  # "bpe10000": at most 10,000 in each language
    "target_vocabulary": 10_000,
    "embedding": 128,  # embedding_dim
    "units": 256,  # rnn_dim
    "attention_units": 512,  # nmtpy: as deep as an annotation
    "embedding_dropout": 0.3,  # emb_dropout
    "context_dropout": 0.5,  # ctx_dropout
    "output_dropout": 0.5,  # out_dropout
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "attention_units": 64,
}


@presets(paper=PAPER, small=SMALL)
def caglayan2017(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    attention_units,
    embedding_dropout=0.0,
    context_dropout=0.0,
    output_dropout=0.0,
    target_dropout=0.0,
    tied="none",
    encoder_layers=1,
    use_attention=True,
):
    """A conditional GRU for little data: normalised annotations, strong dropout.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings, and of the readout.
        units: size of each direction, and of the decoder's state.
        attention_units: size of the alignment model.
        embedding_dropout: rate for the source embeddings.
        context_dropout: rate for the annotations.
        output_dropout: rate for the readout.
        target_dropout: rate for the inputs of the decoder's cells; 0 in the paper.
        tied: "none"; "target": the target embedding is the output matrix; "all": the
            source embedding is the same matrix, too, for a joint vocabulary.
        encoder_layers: number of bidirectional layers; 1 in the paper.
        use_attention: if False, the decoder starts from the mean annotation and also
            reads it at every step, instead of attending.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The details are from the authors' settings and their toolkits nmtpy and
        nmtpytorch. Their optimizer decays all weights by 1e-5 (L2 in the loss), ours
        does not. The first target word is the embedding of the start token. The three
        products of the readout share one bias. "target", "all" (their embeddings start
        as normal noise of standard deviation 1 / sqrt(embedding)), more layers and a
        decoder without attention are ours.

    References:
        arXiv:1707.04481
        github.com/lium-lst/wmt17-mmt
    """
    _check_tied(tied, source_vocabulary, target_vocabulary)
    embed = (
        keras.layers.Embedding if tied == "none" else keras.layers.ReversibleEmbedding
    )
    target_embedding = embed(
        target_vocabulary,
        embedding,
        embeddings_initializer=_initializer(tied, embedding),
        name="target_embedding",
    )
    source_embedding = target_embedding
    if tied != "all":
        source_embedding = keras.layers.Embedding(
            source_vocabulary,
            embedding,
            embeddings_initializer=RandomNormal(stddev=1.0),
            name="source_embedding",
        )
    if use_attention:
        start = units
        cell = ConditionalCell(
            units,
            attention=BahdanauAttention(attention_units),
            cell="gru",
            dropout=target_dropout,
        )
    else:
        start = [units, units]  # two GRUs as in the conditional one
        cell = ContextCell(
            units, cell="gru", layers=2, use_context=True, dropout=target_dropout
        )
    return Seq2Seq(
        source_embedding=source_embedding,
        encoder=NormalizedEncoder(
            BiEncoder(
                units, cell="gru", layers=encoder_layers, dropout=embedding_dropout
            ),
            dropout=context_dropout,
            name="encoder",
        ),
        bridge=DenseBridge(start, inputs="mean", name="bridge"),  # init_cgru: text
        target_embedding=target_embedding,
        decoder=AttentionDecoder(cell, name="decoder"),
        head=DeepOutputHead(
            target_vocabulary,
            units=embedding,
            pieces=1,
            activation="tanh",
            embedding=None if tied == "none" else target_embedding,
            dropout=output_dropout,
            name="head",
        ),
        name="caglayan2017",
    )


def caglayan2017_optimizer():
    """The authors' settings: Adam, lrate 0.0004, clip_c 5; 32 pairs in a batch."""
    return keras.optimizers.Adam(4e-4, global_clipnorm=5.0)


def _initializer(tied, embedding):
    """Return an initializer: rows of an output matrix get length 1.

    With Keras's default, all logits would be almost equal at the start.
    """
    return RandomNormal(stddev=1.0 if tied == "none" else embedding**-0.5)


def _check_tied(tied, source_vocabulary, target_vocabulary):
    check_choice("caglayan2017", "tied", tied, ("none", "target", "all"))
    if tied == "all" and source_vocabulary != target_vocabulary:
        raise four_part_error(
            "caglayan2017 got two vocabularies for one embedding",
            "equal sizes with tied='all'",
            f"{source_vocabulary} and {target_vocabulary}",
            "Learn one vocabulary from both languages",
        )
