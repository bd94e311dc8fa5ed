"""One row per public layer (and per variant that computes something else)."""

import copy

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn.testing.case import Case
from keras_seqattn.testing.sequences import (
    PADDED_ATTENTION,
    PADDED_DECODER,
    PADDED_ENCODER,
    attention_arguments,
    attention_stepwise,
    decoder_arguments,
    decoder_stepwise,
    encoder_arguments,
    mask_of,
    normal,
)

UNITS = 6
# Public, for layers of your own; they compute nothing by themselves.
BASES = {
    "Attention",
    "AttentiveCell",
    "Bridge",
    "ComposedAttention",
    "Composite",
    "DecoderCell",
    "Encoder",
}


def attention(name, make, depth=4):
    def arguments(rng, batch, source, target):
        return attention_arguments(rng, batch, source, target, query_depth=depth)

    return Case(name, make, arguments, PADDED_ATTENTION, attention_stepwise)


def decoder(name, make_cell, **options):
    def make():
        return ks.AttentionDecoder(make_cell(), **options)

    arguments = decoder_arguments(make_cell().state_size)
    return Case(name, make, arguments, PADDED_DECODER, decoder_stepwise)


def encoder(name, make):
    return Case(name, make, encoder_arguments, PADDED_ENCODER)


def bahdanau():
    return ks.BahdanauAttention(UNITS)


def keras_stack():
    cells = [keras.layers.LSTMCell(UNITS), keras.layers.LSTMCell(UNITS)]
    return keras.layers.StackedRNNCells(cells)


ATTENTIONS = [
    attention("bahdanau", bahdanau),
    attention(
        "bahdanau_normalized",
        lambda: ks.BahdanauAttention(UNITS, normalize=True, value_units=5),
    ),
    attention("luong_dot", lambda: ks.LuongAttention("dot", scale=True), depth=6),
    attention("luong_scaled_dot", lambda: ks.LuongAttention("scaled_dot"), depth=6),
    attention("luong_general", lambda: ks.LuongAttention("general")),
    attention("luong_concat", lambda: ks.LuongAttention("concat", units=UNITS)),
    attention(
        "luong_location", lambda: ks.LuongAttention("location", maximum_source=5)
    ),
]
ATTENTIONS += [
    attention("projected_dot", lambda: ks.layers.ProjectedDotAttention(UNITS)),
    attention("one_layer", lambda: ks.layers.OneLayerAttention()),
    attention("coverage", lambda: ks.layers.CoverageAttention(UNITS)),
    attention(
        "location_sensitive",
        lambda: ks.layers.LocationSensitiveAttention(UNITS, filters=3, kernel_size=3),
    ),
    attention(
        "location_cumulative",
        lambda: ks.layers.LocationSensitiveAttention(
            UNITS, filters=3, kernel_size=3, use_cumulative=True
        ),
    ),
    attention(
        "multi_head", lambda: ks.layers.MultiHeadAdditiveAttention(UNITS, heads=2)
    ),
    attention(
        "local_monotonic",
        lambda: ks.layers.LocalAttention(ks.LuongAttention(), window=2),
    ),
    attention(
        "local_predictive",
        lambda: ks.layers.LocalAttention(
            ks.LuongAttention("concat"), window=3, position="predictive"
        ),
    ),
    attention(
        "monotonic_soft",
        lambda: ks.layers.MonotonicAttention(bahdanau(), inference="soft"),
    ),
    attention(
        "monotonic_closed",
        lambda: ks.layers.MonotonicAttention(
            bahdanau(), inference="soft", form="closed"
        ),
    ),
    attention("monotonic_hard", lambda: ks.layers.MonotonicAttention(bahdanau())),
]
DECODERS = [
    decoder("bahdanau_gru", lambda: ks.layers.BahdanauCell(UNITS, bahdanau())),
    decoder(
        "bahdanau_gru_paper",
        lambda: ks.layers.BahdanauCell(
            UNITS, bahdanau(), cell="gru_paper", readout="previous_state"
        ),
    ),
    decoder(
        "bahdanau_lstm_2",
        lambda: ks.layers.BahdanauCell(UNITS, bahdanau(), cell="lstm", layers=2),
        unroll=False,
    ),
    decoder(
        "bahdanau_keras_gru",
        lambda: ks.layers.BahdanauCell(
            UNITS, bahdanau(), cell=keras.layers.GRUCell(UNITS)
        ),
    ),
    decoder("luong_lstm", lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention())),
    decoder(
        "luong_simple_3",
        lambda: ks.layers.LuongCell(
            UNITS, ks.LuongAttention(), cell="simple", layers=3, attentional=None
        ),
    ),
    decoder(
        "luong_no_feeding",
        lambda: ks.layers.LuongCell(
            UNITS, bahdanau(), use_input_feeding=False, attentional_activation=None
        ),
    ),
    decoder(
        "luong_keras_stack",
        lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention(), cell=keras_stack()),
    ),
    decoder("gnmt", lambda: ks.layers.GNMTCell(UNITS, bahdanau(), layers=4)),
    decoder(
        "gnmt_current",
        lambda: ks.layers.GNMTCell(
            UNITS, bahdanau(), layers=3, cell="gru", query="current"
        ),
    ),
    decoder(
        "luong_local",
        lambda: ks.layers.LuongCell(
            UNITS, ks.layers.LocalAttention(ks.LuongAttention(), window=2)
        ),
    ),
    decoder(
        "bahdanau_coverage",
        lambda: ks.layers.BahdanauCell(
            UNITS, ks.layers.CoverageAttention(UNITS), cell="lstm"
        ),
    ),
    decoder(
        "bahdanau_monotonic",
        lambda: ks.layers.BahdanauCell(
            UNITS,
            ks.layers.MonotonicAttention(
                ks.layers.CoverageAttention(UNITS), inference="soft"
            ),
            cell="simple",
        ),
    ),
    decoder(
        "bahdanau_multi_head",
        lambda: ks.layers.BahdanauCell(
            UNITS, ks.layers.MultiHeadAdditiveAttention(UNITS, heads=2)
        ),
    ),
    decoder("context", lambda: ks.layers.ContextCell(UNITS)),
    decoder(
        "context_fed",
        lambda: ks.layers.ContextCell(UNITS, cell="lstm", layers=2, use_context=True),
    ),
    decoder(
        "bahdanau_layer_norm_gru",
        lambda: ks.layers.BahdanauCell(UNITS, bahdanau(), cell="layer_norm_gru"),
    ),
    decoder(
        "gnmt_layer_norm_lstm",
        lambda: ks.layers.GNMTCell(
            UNITS, bahdanau(), cell="layer_norm_lstm", layers=2, readout="state_context"
        ),
    ),
    decoder(
        "luong_dropout",
        lambda: ks.layers.LuongCell(
            UNITS,
            ks.LuongAttention(),
            layers=2,
            dropout=0.3,
            recurrent_dropout=0.2,
            seed=1,
        ),
    ),
    decoder(
        "gnmt_variational_dropout",
        lambda: ks.layers.GNMTCell(
            UNITS,
            bahdanau(),
            cell="gru_paper",
            layers=3,
            dropout=0.3,
            use_variational_dropout=True,
        ),
    ),
    decoder("conditional_gru", lambda: ks.layers.ConditionalCell(UNITS, bahdanau())),
    decoder(
        "conditional_lstm",
        lambda: ks.layers.ConditionalCell(UNITS, ks.LuongAttention(), cell="lstm"),
    ),
    decoder("cho", lambda: ks.layers.ChoCell(UNITS)),
    decoder("cho_lstm_2", lambda: ks.layers.ChoCell(UNITS, cell="lstm", layers=2)),
]


ENCODERS = [
    encoder("bi_lstm", lambda: ks.BiEncoder(UNITS, layers=2)),
    encoder("bi_gru_sum", lambda: ks.BiEncoder(UNITS, cell="gru", merge="sum")),
    encoder("bi_gru_paper", lambda: ks.BiEncoder(UNITS, cell="gru_paper")),
    encoder("bi_residual", lambda: ks.BiEncoder(UNITS, layers=2, residual_from=2)),
    encoder("bi_layer_norm_lstm", lambda: ks.BiEncoder(UNITS, "layer_norm_lstm")),
    encoder(
        "bi_layer_norm_gru",
        lambda: ks.BiEncoder(
            UNITS, "layer_norm_gru", recurrent_dropout=0.2, use_variational_dropout=True
        ),
    ),
    encoder("bi_simple", lambda: ks.BiEncoder(UNITS, cell="simple")),
    encoder("stacked", lambda: ks.layers.StackedEncoder(UNITS, layers=3)),
    encoder("uni_lstm", lambda: ks.layers.UniEncoder(UNITS, layers=2, residual_from=2)),
    encoder(
        "uni_backwards", lambda: ks.layers.UniEncoder(UNITS, "gru", go_backwards=True)
    ),
    encoder("pyramidal", lambda: ks.layers.PyramidalEncoder(UNITS, layers=2)),
    encoder(
        "normalized",
        lambda: ks.layers.NormalizedEncoder(
            ks.BiEncoder(UNITS, cell="gru"), dropout=0.5
        ),
    ),
]


@keras.saving.register_keras_serializable(package="rows")
class Around(keras.layers.RNN):
    """Keras's own one empties the configuration that it is made from."""

    @classmethod
    def from_config(cls, config):
        return super().from_config(copy.deepcopy(config))


def keras_rnn(name, cell):
    """Our cells in Keras's layer; what padding does there is Keras's business."""

    def make():
        return Around(cell(UNITS, name="cell"), return_sequences=True)

    def arguments(rng, batch, source, target):
        return {"sequences": normal(rng, batch, source, 4)}

    return Case(name, make, arguments, padding={})


KERAS_CELLS = [
    keras_rnn("layer_norm_lstm_cell", ks.layers.LayerNormLSTMCell),
    keras_rnn("layer_norm_gru_cell", ks.layers.LayerNormGRUCell),
]


def encoded_arguments(rng, batch, source, target):
    """Of a bridge: what a one-layer BiEncoder returns, its padding zero."""
    mask = mask_of(np.linspace(source, 1, batch).astype(int), source)
    values = normal(rng, batch, source, UNITS) * mask[..., None]
    state = [[normal(rng, batch, UNITS), normal(rng, batch, UNITS)]]
    return {"encoded": ks.types.Encoded(values, mask, state)}


def bridge(name, make):
    return Case(name, make, encoded_arguments, padding={})


BRIDGES = [
    bridge("zero_bridge", lambda: ks.layers.ZeroBridge([5, 5])),
    bridge("copy_bridge", lambda: ks.layers.CopyBridge()),
    bridge("dense_bridge", lambda: ks.layers.DenseBridge([5, [4, 4]])),
    bridge(
        "dense_bridge_backward", lambda: ks.layers.DenseBridge(5, inputs="backward")
    ),
    bridge("dense_bridge_mean", lambda: ks.layers.DenseBridge(5, inputs="mean")),
]


def head_arguments(mask_name, *more):
    def arguments(rng, batch, source, target):
        lengths = np.linspace(target, 1, batch).astype(int)
        depths = {"outputs": 4} | dict.fromkeys(more, 3)
        tensors = {n: normal(rng, batch, target, depth) for n, depth in depths.items()}
        return {**tensors, mask_name: mask_of(lengths, target)}

    return arguments


def embedding():
    return keras.layers.ReversibleEmbedding(11, 3)


HEADS = [
    Case(
        "output_head",
        lambda: ks.layers.OutputHead(11),
        head_arguments("mask"),
        {"outputs": "mask"},
        zeros=False,
    ),
    Case(
        "output_head_tied",
        lambda: ks.layers.OutputHead(11, embedding=embedding()),
        head_arguments("mask"),
        {"outputs": "mask"},
        zeros=False,
    ),
    Case(
        "deep_output_head",
        lambda: ks.layers.DeepOutputHead(11, UNITS, pieces=3, embedding=embedding()),
        head_arguments("outputs_mask", "inputs"),
        {"outputs": "outputs_mask", "inputs": "outputs_mask"},
        zeros=False,
    ),
    Case(
        "deep_output_head_nematus",
        lambda: ks.layers.DeepOutputHead(
            11, UNITS, pieces=1, activation="tanh", dropout=0.5, seed=1
        ),
        head_arguments("outputs_mask", "inputs"),
        {"outputs": "outputs_mask", "inputs": "outputs_mask"},
        zeros=False,
    ),
]
ROWS = [*ATTENTIONS, *DECODERS, *ENCODERS, *KERAS_CELLS, *BRIDGES, *HEADS]
