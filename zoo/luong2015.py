"""Luong, Pham, Manning 2015: effective approaches to attention."""

import keras
from keras.initializers import RandomNormal, RandomUniform

from keras_seqattn.checks import check_choice
from keras_seqattn.layers import (
    AttentionDecoder,
    CopyBridge,
    LocalAttention,
    LuongAttention,
    LuongCell,
    OutputHead,
    UniEncoder,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.optimizers import HalvingDecay

from .presets import presets

WINDOWS = {"local-m": "monotonic", "local-p": "predictive"}  # "global" has no window

PAPER = {  # the best single model of Table 1: local-p, general, feeding, dropout
    "source_vocabulary": 50_000,  # 4.1: the top 50K most frequent words
    "target_vocabulary": 50_000,
    "embedding": 1000,  # 4.1: 1000-dimensional embeddings
    "units": 1000,  # 4.1: each with 1000 cells
    "layers": 4,  # 4.1: stacking LSTM models have 4 layers
    "attention": "general",
    "window": "local-p",
    "reach": 10,  # 4.1: D = 10 for local attention models
    "longest": 50,  # 4.1: sentences beyond 50 words are filtered out
    "dropout": 0.2,  # 4.1: dropout with probability 0.2
    "bound": 0.1,  # 4.1: parameters are uniformly initialized in [-0.1, 0.1]
}
SMALL = {
    "source_vocabulary": 16,
    "target_vocabulary": 16,
    "embedding": 32,
    "units": 64,
    "layers": 2,
    "attention": "general",
    "window": "global",
    "reach": 3,
    "longest": 12,
}


@presets(paper=PAPER, small=SMALL)
def luong2015(
    source_vocabulary,
    target_vocabulary,
    embedding,
    units,
    layers,
    attention="general",
    window="global",
    reach=10,
    longest=50,
    use_input_feeding=True,
    dropout=0.0,
    bound=None,
):
    """Stacked LSTMs; attention after the step, global or local, and input feeding.

    Args:
        source_vocabulary: number of source tokens.
        target_vocabulary: number of target tokens.
        embedding: size of the embeddings.
        units: size of every layer.
        layers: number of layers, of the encoder and of the decoder.
        attention: the score: "dot", "general", "concat" or "location".
        window: "global"; "local-m": around the position of the target word; "local-p":
            around a position that is predicted.
        reach: D, how far a local window goes in each direction (`window` of
            `LocalAttention`).
        longest: for "location", the longest source that has weights.
        use_input_feeding: whether h~_{t-1} is an input of the next step.
        dropout: rate for the inputs of every recurrent layer, not for its state.
        bound: initial weights are uniform in [-bound, bound]. None: embeddings of
            standard deviation 1 and the layers' defaults: the model learns early.

    Returns:
        `Seq2Seq`.

    Differences from the paper:
        The LSTMs have biases, those of the forget gates start at 1; the authors' code
        has none. Also from their code: the decoder starts from h and c of all layers of
        the encoder, and nothing is dropped before the softmax. Unknown words are
        replaced after the search: `replace_unknown`.

    References:
        arXiv:1508.04025
    """
    uniform = None if bound is None else RandomUniform(-bound, bound)
    kernels = {} if bound is None else {"kernel_initializer": uniform}
    start = kernels if bound is None else {**kernels, "recurrent_initializer": uniform}

    def embed(vocabulary, name):
        scale = RandomNormal(stddev=1.0) if bound is None else uniform.clone()
        return keras.layers.Embedding(
            vocabulary, embedding, embeddings_initializer=scale, name=name
        )

    mechanism = LuongAttention(  # 3.1, (8)
        attention,
        maximum_source=longest if attention == "location" else None,
        **kernels,
    )
    if window != "global":  # 3.2, (9), (10)
        check_choice("luong2015", "window", window, ("global", *WINDOWS))
        mechanism = LocalAttention(
            mechanism,
            window=reach,
            position=WINDOWS[window],
            kernel_initializer=uniform if window == "local-p" else None,
        )

    return Seq2Seq(
        source_embedding=embed(source_vocabulary, "source_embedding"),
        encoder=UniEncoder(
            units,
            cell="lstm",
            layers=layers,
            go_backwards=True,  # Table 1: "reverse"
            dropout=dropout,
            name="encoder",
            **start,
        ),
        bridge=CopyBridge(name="bridge"),
        target_embedding=embed(target_vocabulary, "target_embedding"),
        decoder=AttentionDecoder(
            LuongCell(  # (5), 3.3
                units,
                attention=mechanism,
                cell="lstm",
                layers=layers,
                use_input_feeding=use_input_feeding,
                dropout=dropout,
                **start,
            ),
            name="decoder",
        ),
        head=OutputHead(  # (6)
            target_vocabulary, use_bias=False, name="head", **kernels
        ),
        name="luong2015",
    )


def luong2015_optimizer(steps_per_epoch, dropout=True):
    """4.1: SGD at 1, halved every epoch from some epoch on; norm at most 5.

    With dropout after 8 of 12 epochs, without after 5 of 10.
    """
    return keras.optimizers.SGD(
        HalvingDecay.luong2015(steps_per_epoch, dropout=dropout), global_clipnorm=5.0
    )
