"""Chen et al. 2018: the best of both worlds (RNMT+)."""

import keras
from keras.initializers import RandomNormal, RandomUniform

from keras_seqattn.layers import (
    AttentionDecoder,
    BiEncoder,
    GNMTCell,
    MultiHeadAdditiveAttention,
    OutputHead,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import RNMTPlusSchedule

from .presets import presets

# From the authors' code: lingvo, tasks/mt/params/wmt14_en_de.py, WmtEnDeRNMT.
PAPER = {
    "source_vocabulary": 32_000,  # the vocabulary of both languages
    "target_vocabulary": 32_000,
    "embedding": 1024,
    "units": 1024,  # hidden dimension of each direction and of the decoder
    "encoder_layers": 6,  # bidirectional
    "decoder_layers": 8,
    "residual_from": 3,  # MTEncoderBiRNN, MTDecoderV1: from index 2 on
    "heads": 4,
    "bound": 0.04,  # uniform initialisation
    "dropout": 0.3,  # of the attention, and before the residual
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "residual_from": 2,
    "heads": 4,
}


@presets(paper=PAPER, small=SMALL)
def chen2018(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    encoder_layers,
    decoder_layers,
    residual_from=3,
    heads=4,
    query="current",
    bound=None,
    dropout=0.0,
):
    """RNMT+: deep layer-normalised LSTMs, additive attention with several heads.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of each direction, of the decoder's layers, of the contexts.
        encoder_layers: number of bidirectional layers.
        decoder_layers: number of layers of the decoder; the bottom one attends.
        residual_from: the first layer, counted from 1, whose input is added to its
            output, in encoder and decoder. None: no residuals.
        heads: number of heads of the attention.
        query: "current": the bottom layer's output of this step, as in the authors'
            code; "previous": its output of the step before, as in `gnmt2016`.
        bound: initial weights are uniform in [-bound, bound]. None: embeddings of
            standard deviation 1 and the layers' defaults: the model learns early.
        dropout: rate for the inputs of every recurrent layer, without the residuals,
            and for the alignments.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        Details are from the authors' code (lingvo), because not all sections of the
        paper could be read. Layer normalisation is that of Ba et al. for each gate: of
        `W x`, of `U h` and of c separately; lingvo normalises the sum of both products
        and leaves c. The LSTM's output has its tanh; lingvo's lacks it. The encoder's
        projection from twice the units to the units is not a layer: the attention's
        projections of keys and values do it, which in lingvo are one and the same, and
        a last projection joins the heads, which lingvo leaves side by side. Every head
        has its own alignment model; lingvo's share one. The bottom decoder layer reads
        no context, lingvo's reads that of the step before. Dropout acts on the inputs
        of a layer, in lingvo on its outputs. The L2 loss of English-German is left out.

    References:
        arXiv:1804.09849
        github.com/tensorflow/lingvo
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
        encoder=BiEncoder(
            units,
            cell="layer_norm_lstm",
            layers=encoder_layers,
            residual_from=residual_from,
            dropout=dropout,
            name="encoder",
            **start,
        ),
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            GNMTCell(
                units,
                attention=MultiHeadAdditiveAttention(
                    units, heads=heads, value_units=units, dropout=dropout, **kernels
                ),
                cell="layer_norm_lstm",
                layers=decoder_layers,
                residual_from=residual_from,
                query=query,
                readout="state_context",  # the softmax reads the context, too
                dropout=dropout,
                **start,
            ),
            name="decoder",
        ),
        head=OutputHead(target_vocabulary, name="head", **kernels),
        name="chen2018",
    )


def chen2018_optimizer(replicas=1):
    """Adam with `RNMTPlusSchedule`; train it with `SmoothedCrossentropy(0.1)`.

    From the authors' code: beta_1 0.9, beta_2 0.98, epsilon 1e-6, rate 1e-4, warm-up
    500, label smoothing 0.1. The formula of the schedule, start and end of the decay
    are a reader's summary of the paper's section 4. There it ends at 5e-5; here it
    continues to fall. Their trainer seems to skip steps whose gradient has an abnormal
    norm; Keras cannot, so the norm is clipped at 5, as in `gnmt2016_optimizer`. Their
    batch is that of all `replicas` machines together.
    """
    schedule = RNMTPlusSchedule(
        replicas, start=600_000, end=1_200_000, warmup=500, initial_learning_rate=1e-4
    )
    return keras.optimizers.Adam(
        schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-6, global_clipnorm=5.0
    )
