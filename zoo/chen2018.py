"""Chen et al. 2018: the best of both worlds (RNMT+)."""

import keras
from keras.initializers import RandomNormal, RandomUniform

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers import (
    AttentionDecoder,
    BiEncoder,
    GNMTCell,
    MultiHeadAdditiveAttention,
    OutputHead,
    PositionEmbedding,
    TransformerEncoder,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import RNMTPlusSchedule

from .presets import presets
from .vaswani2017 import check_shared_embedding

ENCODERS = ("recurrent", "transformer")
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
TINY = {  # as wide and, in the encoder, as deep as `vaswani2017("tiny")`, for Multi30k
    "source_vocabulary": 10_000,
    "target_vocabulary": 10_000,
    "embedding": 128,
    "units": 128,
    "encoder_layers": 4,
    "decoder_layers": 2,
    "residual_from": 2,
    "heads": 4,
    "dropout": 0.3,
    "use_shared_embedding": True,
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


@presets(paper=PAPER, tiny=TINY, small=SMALL)
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
    encoder="recurrent",
    feed_forward_units=None,
    use_shared_embedding=False,
):
    """RNMT+: deep layer-normalised LSTMs, additive attention with several heads.

    With `encoder="transformer"` it is the paper's hybrid: the encoder of a Transformer
    before the decoder of RNMT+.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of each direction, of the decoder's layers, of the contexts.
        encoder_layers: number of layers of the encoder.
        decoder_layers: number of layers of the decoder; the bottom one attends.
        residual_from: the first layer, counted from 1, whose input is added to its
            output, in encoder and decoder. None: no residuals.
        heads: number of heads of the attention, and of a Transformer's self-attention.
        query: "current": the bottom layer's output of this step, as in the authors'
            code; "previous": its output of the step before, as in `gnmt2016`.
        bound: initial weights are uniform in [-bound, bound]. None: embeddings of
            standard deviation 1 and the layers' defaults: the model learns early.
        dropout: rate for the inputs of every recurrent layer, without the residuals,
            and for the alignments; in a Transformer for what each sublayer adds.
        encoder: "recurrent": bidirectional layers; "transformer".
        feed_forward_units: size between the two dense layers of a Transformer's layer;
            None: `4 * embedding`.
        use_shared_embedding: whether source, target and logits have one matrix, for a
            joint vocabulary.

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
        The sizes of the hybrid could not be read. Each sublayer of its encoder
        normalises its inputs, as in lingvo. The paper trains that encoder in a
        Transformer first; here both parts learn together.

    References:
        arXiv:1804.09849
        github.com/tensorflow/lingvo
    """
    check_choice("chen2018", "encoder", encoder, ENCODERS)
    check_shared_embedding(
        "chen2018", use_shared_embedding, source_vocabulary, target_vocabulary
    )
    uniform = None if bound is None else RandomUniform(-bound, bound)
    kernels = {} if bound is None else {"kernel_initializer": uniform}
    start = kernels if bound is None else {**kernels, "recurrent_initializer": uniform}

    is_transformer = encoder == "transformer"
    if feed_forward_units is not None and not is_transformer:
        raise four_part_error(
            "chen2018 got feed_forward_units, which its encoder does not have",
            "None with encoder='recurrent'",
            f"feed_forward_units={feed_forward_units}",
            "Drop it, or pass encoder='transformer'",
        )
    layers = keras.layers
    kind = layers.ReversibleEmbedding if use_shared_embedding else layers.Embedding
    scaled = is_transformer or use_shared_embedding  # as in `vaswani2017`
    stddev = embedding**-0.5 if scaled else 1.0

    def embed(vocabulary, name):
        scale = RandomNormal(stddev=stddev) if bound is None else uniform.clone()
        return kind(vocabulary, embedding, embeddings_initializer=scale, name=name)

    target = embed(target_vocabulary, "target_embedding")
    shared = target if use_shared_embedding else None
    if is_transformer:
        reader = TransformerEncoder(
            embedding,
            layers=encoder_layers,
            heads=heads,
            feed_forward_units=feed_forward_units,
            dropout=dropout,
            norm_first=True,
            positions=PositionEmbedding(use_scale=True, name="positions"),
            name="encoder",
        )
    else:
        reader = BiEncoder(
            units,
            cell="layer_norm_lstm",
            layers=encoder_layers,
            residual_from=residual_from,
            dropout=dropout,
            name="encoder",
            **start,
        )
    return Seq2Seq(
        source_embedding=shared or embed(source_vocabulary, "source_embedding"),
        encoder=reader,
        target_embedding=target,
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
        head=OutputHead(target_vocabulary, embedding=shared, name="head", **kernels),
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
