"""Cho et al. 2014: the RNN encoder-decoder, a summary of the source at every step."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.layers import (
    AttentionDecoder,
    ChoCell,
    CopyBridge,
    DeepOutputHead,
    UniEncoder,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

PAPER = {
    "source_vocabulary": 15_000,  # section 4: the most frequent 15,000 words
    "target_vocabulary": 15_000,
    "embedding": 100,  # section 4: rank-100 matrices, "an embedding of dimension 100"
    "units": 1000,  # section 4: 1000 hidden units in encoder and decoder
    "maxout": 500,  # section 4: 500 maxout units, each pooling 2 inputs
    "rank": 100,  # section 4: the output matrix has rank 100, too
    "deviation": 0.01,  # section 4: white Gaussian, standard deviation 0.01
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 128,
    "maxout": 32,
    "rank": 16,
}


@presets(paper=PAPER, small=SMALL)
def cho2014(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    maxout,
    rank,
    deviation=None,
):
    """Gated encoder and decoder: one vector c is all that the decoder reads.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of both recurrent layers.
        maxout: size of the readout.
        rank: rank of the matrix from the readout to the vocabulary, a product of two.
        deviation: standard deviation of the initial weights, which are Gaussian. None:
            embeddings of standard deviation 1 and the layers' defaults, so that the
            model learns early.

    Returns:
        `Seq2Seq`; its alignments are zero everywhere.

    Differences from the paper:
        c = tanh(V h_N) and h_0 = tanh(V' c) follow a reader's summary of the appendix;
        section 2.2 calls the last state itself c, and so does the authors' code. The
        decoder's reset gate acts on the state alone and before the product, as in that
        code; in the summary it acts after it, and on the share of c, too. The decoder's
        z is the paper's 1 - z: weights differ, functions do not. All layers
        but the embeddings and the factors of the output matrix have biases. In the
        experiments of the paper the model scored phrase pairs; it is trained and
        searched like any other here.

    References:
        arXiv:1406.1078
    """
    normal = None if deviation is None else RandomNormal(stddev=deviation)
    start = {} if deviation is None else {"kernel_initializer": normal}

    def embed(vocabulary, name):
        scale = RandomNormal(stddev=1.0) if deviation is None else normal.clone()
        return keras.layers.Embedding(
            vocabulary, embedding, embeddings_initializer=scale, name=name
        )

    output = keras.layers.ReversibleEmbedding(  # G_l of the output matrix G_l G_r
        target_vocabulary,
        rank,
        embeddings_initializer=RandomNormal(stddev=deviation or rank**-0.5),
        name="output",
    )
    return Seq2Seq(
        source_embedding=embed(source_vocabulary, "source_embedding"),
        encoder=UniEncoder(  # (5)-(8)
            units, cell="gru_paper", name="encoder", **start
        ),
        bridge=CopyBridge(name="bridge"),  # h_N
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            ChoCell(units, cell="gru_paper", **start), name="decoder"
        ),
        head=DeepOutputHead(
            target_vocabulary,
            units=maxout,
            embedding=output,
            name="head",
            **start,
        ),
        name="cho2014",
    )


def cho2014_optimizer():
    """Section 4: Adadelta, eps 10^-6 and rho 0.95.

    The paper does not clip; gradients of norm at most 1 are from the authors' code.
    """
    return keras.optimizers.Adadelta(
        learning_rate=1.0, rho=0.95, epsilon=1e-6, global_clipnorm=1.0
    )
