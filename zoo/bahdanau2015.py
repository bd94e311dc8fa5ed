"""Bahdanau, Cho, Bengio 2015: jointly learning to align and translate (RNNsearch)."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BahdanauCell,
    BiEncoder,
    DeepOutputHead,
    DenseBridge,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

PAPER = {
    "source_vocabulary": 30_000,  # 4.1: "a shortlist of 30,000 most frequent words"
    "target_vocabulary": 30_000,
    "embedding": 620,  # A.2.3: the word embedding dimensionality m
    "units": 1000,  # A.2.3: the size of a hidden layer n
    "attention_units": 1000,  # A.2.3: hidden units in the alignment model n'
    "maxout": 500,  # A.2.3: the size of the maxout hidden layer l
    "deviation": 0.01,  # B.1: Gaussian with the variance of 0.01^2
    "attention_deviation": 0.001,  # B.1: W_a and U_a, variance 0.001^2
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "attention_units": 64,
    "maxout": 32,
}


@presets(paper=PAPER, small=SMALL)
def bahdanau2015(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    attention_units,
    maxout,
    deviation=None,
    attention_deviation=None,
):
    """RNNsearch: a bidirectional encoder, attention, a maxout readout.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size m of the embeddings.
        units: size n of each direction, and of the decoder's state.
        attention_units: size n' of the alignment model.
        maxout: size l of the readout.
        deviation: standard deviation of the initial weights, which are Gaussian. None:
            embeddings of standard deviation 1 and the layers' defaults, so that the
            model learns early.
        attention_deviation: the same for the alignment model.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The encoder's and decoder's gates and the readout have biases, which the paper
        leaves out of its equations. The score vector v_a starts like the rest of the
        alignment model, not at zero: with zero, the rest would get no gradient at
        first. In the encoder, Keras's z is (1 - z) of the paper. The first alignment
        reads s_0. The readout reads s_{i-1}, as A.2.2 prints; the authors' code
        updates the state after the token is known.

    References:
        arXiv:1409.0473
    """
    start = _normal(deviation)
    attention_start = _normal(attention_deviation) or start

    def embed(vocabulary, name):
        scale = RandomNormal(stddev=1.0 if deviation is None else deviation)
        return keras.layers.Embedding(
            vocabulary, embedding, embeddings_initializer=scale, name=name
        )

    return Seq2Seq(
        source_embedding=embed(source_vocabulary, "source_embedding"),
        encoder=BiEncoder(  # (7)
            units, cell="gru_paper", name="encoder", **start
        ),
        bridge=DenseBridge(  # s_0 = tanh(W_s bw_1)
            units,
            inputs="backward",
            use_bias=False,
            name="bridge",
            **start,
        ),
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            BahdanauCell(  # (5), A.2.2
                units,
                attention=BahdanauAttention(attention_units, **attention_start),
                cell="gru_paper",
                readout="previous_state",
                **start,
            ),
            name="decoder",
        ),
        head=DeepOutputHead(  # A.2.2
            target_vocabulary, units=maxout, name="head", **start
        ),
        name="bahdanau2015",
    )


def _normal(deviation):
    """Return an argument for layers; without a deviation their own defaults."""
    if deviation is None:
        return {}
    return {"kernel_initializer": RandomNormal(stddev=deviation)}


def bahdanau2015_optimizer():
    """B.2: Adadelta, "(eps = 10^-6 and rho = 0.95)", gradients of norm at most 1."""
    return keras.optimizers.Adadelta(
        learning_rate=1.0, rho=0.95, epsilon=1e-6, global_clipnorm=1.0
    )
