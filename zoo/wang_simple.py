"""Attention as in lecture notes, with simple recurrent networks (tanh)."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.checks import check_choice
from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BahdanauCell,
    CopyBridge,
    OneLayerAttention,
    OutputHead,
    ProjectedDotAttention,
    UniEncoder,
)
from keras_seqattn.models import Seq2Seq

from .presets import presets

SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "align": "additive",
}


@presets(small=SMALL)
def wang_simple(
    source_vocabulary, target_vocabulary, embedding, units, align="additive"
):
    """Two `SimpleRNN`s and attention: s_t = tanh(A [x_t; s_{t-1}; c_t] + b).

    c_t is a weighted sum of the encoder's states h_1, ..., h_m; `align` says how well
    h_j fits s_{t-1}. s_0 = h_m.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of both networks, and of the alignment model.
        align: "additive": v . tanh(W [h; s]), as Bahdanau et al.; "projected":
            (W_K h) . (W_Q s), as in the Transformer; "one_layer": tanh(w . [h; s]),
            whose alignments cannot be sharp.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The only paper is that of Bahdanau et al. A lecture leaves out gates, the second
        direction of the encoder and the deep output, to show the attention alone. It
        gives no sizes. The logits are a linear function of [s_t; c_t].

    References:
        Lecture form of arXiv:1409.0473.
    """
    mechanisms = {
        "additive": lambda: BahdanauAttention(units),
        "one_layer": lambda: OneLayerAttention(),
        "projected": lambda: ProjectedDotAttention(units),
    }
    check_choice("wang_simple", "align", align, mechanisms)
    return Seq2Seq(
        source_embedding=keras.layers.Embedding(
            source_vocabulary,
            embedding,
            embeddings_initializer=RandomNormal(stddev=1.0),
            name="source_embedding",
        ),
        encoder=UniEncoder(units, cell="simple", name="encoder"),
        bridge=CopyBridge(name="bridge"),  # s_0 = h_m
        target_embedding=keras.layers.Embedding(
            target_vocabulary,
            embedding,
            embeddings_initializer=RandomNormal(stddev=1.0),
            name="target_embedding",
        ),
        decoder=AttentionDecoder(
            BahdanauCell(  # s_t = tanh(A [x_t; s_{t-1}; c_t] + b)
                units,
                attention=mechanisms[align](),
                cell="simple",
            ),
            name="decoder",
        ),
        head=OutputHead(target_vocabulary, name="head"),
        name="wang_simple",
    )


def wang_simple_optimizer():
    """Adam, with gradients of norm at most 1; not from a paper."""
    return keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
