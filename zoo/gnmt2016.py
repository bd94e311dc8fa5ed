"""Wu et al. 2016: Google's neural machine translation system (GNMT)."""

import keras
from keras.initializers import RandomNormal, RandomUniform

from keras_seqattn.checks import check_choice
from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    GNMTCell,
    OutputHead,
    StackedEncoder,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import HalvingDecay

from .presets import presets

PAPER = {
    "source_vocabulary": 32_000,  # 4.1: "between 8k and 32k wordpieces", shared
    "target_vocabulary": 32_000,
    "embedding": 1024,  # not found in the text; lingvo's defaults, by the same group
    "units": 1024,  # lingvo, too; tf-nmt's wmt16_gnmt_8_layer.json: num_units 1024
    "attention_units": 1024,  # not found in the text: as wide as a layer
    "layers": 8,  # Fig. 1: "8 encoder LSTM layers", "and 8 decoder layers"
    "residual_from": 3,  # Fig. 1: "start from the layer third from the bottom"
    "bound": 0.04,  # not found in the text; lingvo: uniform, 0.04
}
FOUR_LAYERS = {
    **PAPER,
    "layers": 4,  # tf-nmt's wmt16_gnmt_4_layer.json, both sides
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "attention_units": 64,
    "layers": 3,
}


@presets(paper=PAPER, four_layers=FOUR_LAYERS, small=SMALL)
def gnmt2016(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    attention_units,
    layers=8,
    residual_from=3,
    query="previous",
    bound=None,
    dropout=0.0,
):
    """GNMT: deep residual LSTMs, attention between the bottom layers.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of every layer, and of each direction in the bidirectional one.
        attention_units: hidden layer of the attention network.
        layers: number of layers, of the encoder and of the decoder.
        residual_from: the first layer, counted from 1, whose input is added to its
            output. None: no residuals.
        query: "previous": the bottom decoder layer's output of the step before, as in
            the paper; "current": that of this step, the variant that tf-nmt calls
            gnmt_v2.
        bound: initial weights are uniform in [-bound, bound]. None: embeddings of
            standard deviation 1 and the layers' defaults: the model learns early.
        dropout: rate for the inputs of every recurrent layer, without the residuals.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The LSTM is Keras's: a tanh before the output gate, which (11) lacks, and
        biases, which it does not print; those of the forget gates start at 1. The
        logits have biases, too. The clipping of c, x and the logits for quantised
        inference, (10) and (13), is left out, and so is the refinement by reinforcement
        learning (section 5). The bottom decoder layer reads no context, since Fig. 1
        sends it to "all the remaining decoder layers"; tf-nmt and lingvo also give the
        bottom layer that of the step before. The decoder starts from zeros: the
        sections that could be read do not mention it, but a reader's summary of the
        paper and lingvo agree. Embeddings are not shared between the languages,
        although the vocabulary is. "current" in place of "previous" is a difference,
        too.

    References:
        arXiv:1609.08144
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
        encoder=StackedEncoder(  # (5), (6): one bidirectional layer, the others above
            units,
            cell="lstm",
            layers=layers,
            residual_from=residual_from,
            dropout=dropout,
            name="encoder",
            **start,
        ),
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            GNMTCell(  # (4), (6)
                units,
                attention=BahdanauAttention(attention_units, **kernels),
                cell="lstm",
                layers=layers,
                residual_from=residual_from,
                query=query,
                dropout=dropout,
                **start,
            ),
            name="decoder",
        ),
        head=OutputHead(target_vocabulary, name="head", **kernels),
        name="gnmt2016",
    )


def gnmt2016_optimizer(phase="adam"):
    """Two optimizers, one after the other, gradients of norm at most 5.

    The paper, 3.3: "a combination of Adam [25] and SGD algorithms", batches of 128
    pairs. "adam": 2e-4, for 60 000 steps; compile again for "sgd": 0.5, halved every
    200 000 steps from 1.2 million on, four times. These numbers and the clipping are
    those of a reader's summary: section 8.3 of the paper could not be read.
    """
    check_choice("gnmt2016_optimizer", "phase", phase, ("adam", "sgd"))
    if phase == "adam":
        return keras.optimizers.Adam(2e-4, global_clipnorm=5.0)
    return keras.optimizers.SGD(HalvingDecay.gnmt2016(), global_clipnorm=5.0)
