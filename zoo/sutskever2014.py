"""Sutskever, Vinyals, Le 2014: sequence to sequence learning, without attention."""

import keras
from keras.initializers import RandomNormal, RandomUniform

from keras_seqattn.layers import (
    AttentionDecoder,
    ContextCell,
    CopyBridge,
    OutputHead,
    UniEncoder,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import HalvingDecay

from .presets import presets

PAPER = {
    "source_vocabulary": 160_000,  # 3.1: the most frequent source words
    "target_vocabulary": 80_000,  # 3.1: the most frequent target words
    "embedding": 1000,  # 3.4: 1000 dimensional word embeddings
    "units": 1000,  # 3.4: 1000 cells at each layer
    "layers": 4,  # 3.4: deep LSTMs with 4 layers
    "bound": 0.08,  # 3.4: the uniform distribution between -0.08 and 0.08
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 96,
    "layers": 2,
}


@presets(paper=PAPER, small=SMALL)
def sutskever2014(
    source_vocabulary, target_vocabulary, embedding, units, layers, bound=None
):
    """A deep LSTM reads the reversed source; another one continues from its state.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of every layer.
        layers: number of layers, of the encoder and of the decoder.
        bound: initial weights are uniform in [-bound, bound]. None: embeddings of
            standard deviation 1 and the layers' defaults: the model learns early.

    Returns:
        `Seq2Seq`; its alignments are zero everywhere.

    Differences from the paper:
        The decoder begins with a start token; in the paper it begins with the token
        that ends the source. Where the source has an end token, it is the first thing
        that the reversing encoder reads. The biases of the LSTMs do not start from the
        uniform distribution: they are 0, those of the forget gates 1. The parameters,
        384,032,000, are the paper's 384M and the biases of the LSTMs.

    References:
        arXiv:1409.3215
    """
    uniform = None if bound is None else RandomUniform(-bound, bound)
    kernels = {} if bound is None else {"kernel_initializer": uniform}
    start = kernels if bound is None else {**kernels, "recurrent_initializer": uniform}

    def embed(vocabulary, name):
        scale = RandomNormal(stddev=1.0) if bound is None else uniform.clone()
        return keras.layers.Embedding(
            vocabulary, embedding, embeddings_initializer=scale, name=name
        )

    return Seq2Seq(
        source_embedding=embed(source_vocabulary, "source_embedding"),
        encoder=UniEncoder(
            units,
            cell="lstm",
            layers=layers,
            go_backwards=True,  # 3.3: the source is reversed, the target is not
            name="encoder",
            **start,
        ),
        bridge=CopyBridge(name="bridge"),  # 3.4: "8000 real numbers", h and c of each
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            ContextCell(units, cell="lstm", layers=layers, **start),
            name="decoder",
        ),
        head=OutputHead(target_vocabulary, use_bias=False, name="head", **kernels),
        name="sutskever2014",
    )


def sutskever2014_optimizer(steps_per_epoch):
    """3.4: SGD at 0.7, halved every half epoch after 5 of 7.5; norm at most 5.

    The norm is that of a gradient "divided by 128", the number of sentences. Keras's
    stock losses divide by the number of words.
    """
    return keras.optimizers.SGD(
        HalvingDecay(
            0.7, start=5 * steps_per_epoch, every=max(1, steps_per_epoch // 2)
        ),
        global_clipnorm=5.0,
    )
