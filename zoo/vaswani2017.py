"""Vaswani et al. 2017: attention is all you need, the Transformer."""

import keras
from keras.initializers import RandomNormal

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers import (
    OutputHead,
    PositionEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import InverseRootSchedule

from .presets import presets

BASE = {
    "source_vocabulary": 37_000,  # 5.1: a shared vocabulary of about 37000 tokens
    "target_vocabulary": 37_000,
    "units": 512,  # 3.1: outputs of dimension d_model = 512
    "layers": 6,  # 3.1: a stack of N = 6 identical layers
    "heads": 8,  # 3.2.2: h = 8 parallel attention layers, or heads
    "feed_forward_units": 2048,  # 3.3: the inner layer has dimensionality 2048
    "dropout": 0.1,  # 5.4: for the base model, a rate of P_drop = 0.1
    "use_shared_embedding": True,  # 3.4: share the same weight matrix
}
BIG = {  # Table 3, the last row
    **BASE,
    "units": 1024,
    "heads": 16,
    "feed_forward_units": 4096,
    "dropout": 0.3,
}
TINY = {  # Wu et al. 2021, 3.3: Tiny, for Multi30k
    "source_vocabulary": 10_000,  # 3.2: 10,000 merge operations, joint
    "target_vocabulary": 10_000,
    "units": 128,
    "layers": 4,  # of the encoder and of the decoder
    "heads": 4,
    "feed_forward_units": 256,
    "dropout": 0.3,
    "use_shared_embedding": True,
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "units": 32,
    "layers": 2,
    "heads": 4,
    "feed_forward_units": 64,
}


@presets(base=BASE, big=BIG, tiny=TINY, small=SMALL)
def vaswani2017(
    source_vocabulary,
    target_vocabulary,
    units,
    layers,
    heads,
    feed_forward_units,
    decoder_layers=None,
    norm_first=False,
    dropout=0.0,
    attention_dropout=0.0,
    use_shared_embedding=False,
):
    """Self-attention in place of recurrence: the Transformer.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        units: size of embeddings and of all layers, d_model.
        layers: number of layers of the encoder, and of the decoder.
        heads: of every attention.
        feed_forward_units: size between the two dense layers of a layer, d_ff.
        decoder_layers: number of layers of the decoder; None: as many as the encoder.
        norm_first: whether each sublayer normalises its inputs. The paper normalises
            its outputs, which needs a warm-up.
        dropout: rate, of embeddings and of what each sublayer adds.
        attention_dropout: rate of the alignments.
        use_shared_embedding: whether source and target have one embedding, for a joint
            vocabulary. The logits always use the target's.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        Queries, keys and values have biases, as in Keras and in most toolkits. Initial
        scales, which the paper does not print: kernels are Glorot's, embeddings have
        the standard deviation `units**-0.5`.

    References:
        arXiv:1706.03762
        Wu et al. 2021, arXiv:2105.14462 (the preset "tiny")
    """
    check_shared_embedding(
        "vaswani2017", use_shared_embedding, source_vocabulary, target_vocabulary
    )

    def embed(vocabulary, name):
        return keras.layers.ReversibleEmbedding(
            vocabulary,
            units,
            embeddings_initializer=RandomNormal(stddev=units**-0.5),
            name=name,
        )

    def stack(kind, layers, name):
        return kind(
            units,
            layers=layers,
            heads=heads,
            feed_forward_units=feed_forward_units,
            dropout=dropout,
            attention_dropout=attention_dropout,
            norm_first=norm_first,
            positions=PositionEmbedding(use_scale=True, name="positions"),  # 3.4, 3.5
            name=name,
        )

    target = embed(target_vocabulary, "target_embedding")
    source = embed(source_vocabulary, "source_embedding")
    return Seq2Seq(
        source_embedding=target if use_shared_embedding else source,
        encoder=stack(TransformerEncoder, layers, "encoder"),
        target_embedding=target,
        decoder=stack(TransformerDecoder, decoder_layers or layers, "decoder"),
        head=OutputHead(  # 3.4
            target_vocabulary, embedding=target, use_bias=False, name="head"
        ),
        name="vaswani2017",
    )


def check_shared_embedding(owner, is_shared, source_vocabulary, target_vocabulary):
    """Check that one embedding has rows for both languages."""
    if is_shared and source_vocabulary != target_vocabulary:
        raise four_part_error(
            f"{owner} cannot share the embedding",
            "one vocabulary for both languages",
            f"{source_vocabulary} source tokens and {target_vocabulary} target tokens",
            "Learn a joint vocabulary, or pass use_shared_embedding=False",
        )


def vaswani2017_optimizer(units=512, warmup_steps=4000):
    """5.3: Adam with beta_2 = 0.98 and epsilon = 1e-9, and the schedule (3)."""
    return keras.optimizers.Adam(
        InverseRootSchedule.vaswani2017(units, warmup_steps),
        beta_2=0.98,
        epsilon=1e-9,
    )
