"""Sennrich et al. 2017: Nematus, the toolkit of the Edinburgh WMT systems."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BiEncoder,
    ConditionalCell,
    DeepOutputHead,
    DenseBridge,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

# The paper describes a toolkit and fixes no sizes: these are the authors' scripts.
PAPER = {
    "source_vocabulary": 90_000,  # wmt16-scripts, sample/config.py: 90000
    "target_vocabulary": 90_000,
    "embedding": 512,  # wmt17-scripts, training/scripts/train.sh: dim_word 512
    "units": 1024,  # the same: dim 1024
    "attention_units": 2048,  # nematus/layers.py: 2 * dim, as deep as an annotation
    "deviation": 0.01,  # nematus/initializers.py: normal, 0.01
}
REGULARIZED = {
    **PAPER,
    "dropout": 0.2,  # wmt16-scripts, sample/config.py: dropout_embedding, _hidden
    "word_dropout": 0.1,  # the same: dropout_source, dropout_target
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "attention_units": 64,
}


@presets(paper=PAPER, regularized=REGULARIZED, small=SMALL)
def sennrich2017(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    attention_units,
    cell="layer_norm_gru",
    deviation=None,
    dropout=0.0,
    word_dropout=0.0,
):
    """Nematus: a conditional GRU, deep output, tied embeddings.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings, and of the readout.
        units: size of each direction, and of the decoder's state.
        attention_units: size of the alignment model.
        cell: cell of encoder and decoder; "gru" has no layer normalisation.
        deviation: standard deviation of the initial weights, which are Gaussian. None:
            embeddings of standard deviation 1 and the layers' defaults, so that the
            model learns early.
        dropout: rate for the inputs of every cell, for its state, and for the readout;
            one mask lasts a sentence (Gal & Ghahramani 2016).
        word_dropout: rate at which a word loses its embedding, in both languages.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The paper prints few sizes; the rest is from the authors' code. Layer
        normalisation has statistics for each gate, where Nematus normalises the two
        gates of a GRU together, and it is left out of bridge and readout, where Nematus
        has it, too. The three products of the readout share one bias, those of the
        attention have none. Square matrices outside the recurrence start Gaussian, not
        orthogonal. The first target word is the embedding of the start token, not
        zeros. Dropout does not act on the inputs of the attention, on s_0, and on the
        embedding that enters the readout. Not a difference: the reset gate acts after
        the product, and z is the share of the old state, in Keras and in Nematus.

    References:
        arXiv:1703.04357
        github.com/EdinburghNLP/nematus
    """
    start = {} if deviation is None else {"kernel_initializer": _normal(deviation)}
    scale = "uniform" if deviation is None else _normal(deviation)
    tied = keras.layers.ReversibleEmbedding(
        target_vocabulary,
        embedding,
        embeddings_initializer=scale,
        name="target_embedding",
    )
    regularize = {
        "dropout": dropout,
        "recurrent_dropout": dropout,
        "use_variational_dropout": True,
    }
    return Seq2Seq(
        source_embedding=keras.layers.Embedding(
            source_vocabulary,
            embedding,
            embeddings_initializer=_normal(deviation or 1.0),
            name="source_embedding",
        ),
        encoder=BiEncoder(units, cell=cell, name="encoder", **regularize, **start),
        bridge=DenseBridge(  # s_0 = tanh(W_init mean{h_i : i})
            units, inputs="mean", name="bridge", **start
        ),
        target_embedding=tied,
        decoder=AttentionDecoder(
            ConditionalCell(  # s_j = cGRU(s_{j-1}, y_{j-1}, C)
                units,
                attention=BahdanauAttention(attention_units, **start),
                cell=cell,
                **regularize,
                **start,
            ),
            name="decoder",
        ),
        head=DeepOutputHead(  # t_j = tanh(W_1 s_j + W_2 E y_{j-1} + W_3 c_j)
            target_vocabulary,
            units=embedding,
            pieces=1,
            activation="tanh",
            embedding=tied,
            dropout=dropout,
            name="head",
            **start,
        ),
        source_word_dropout=word_dropout,
        target_word_dropout=word_dropout,
        name="sennrich2017",
    )


def sennrich2017_optimizer():
    """The authors' scripts: Adam, lrate 0.0001, clip_c 1; 80 pairs in a batch."""
    return keras.optimizers.Adam(1e-4, global_clipnorm=1.0)


def _normal(deviation):
    return RandomNormal(stddev=deviation)
