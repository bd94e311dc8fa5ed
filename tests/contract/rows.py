"""One row per public layer (and per variant that computes something else)."""

import copy
import functools

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn.testing import sequences as seq
from keras_seqattn.testing.case import Case

L, UNITS = ks.layers, 6
AS_DEEP_AS_THE_VALUES = ("luong_dot", "luong_scaled_dot")  # the queries
AS_DEEP_AS_THE_VALUES += ("keras_dot", "keras_additive")
# Public, for layers of your own; they compute nothing by themselves.
BASES = {"Attention", "AttentiveCell", "Bridge", "ComposedAttention", "Composite"}
BASES |= {"DecoderCell", "Encoder"}


def attention(name, make):
    def arguments(rng, batch, source, target):
        depth = 6 if name in AS_DEEP_AS_THE_VALUES else 4
        return seq.attention_arguments(rng, batch, source, target, query_depth=depth)

    return Case(name, make, arguments, seq.PADDED_ATTENTION, seq.attention_stepwise)


def decoder(name, make_cell):
    arguments = seq.decoder_arguments(make_cell().state_size)
    return Case(
        name,
        lambda: ks.AttentionDecoder(make_cell()),
        arguments,
        seq.PADDED_DECODER,
        seq.decoder_stepwise,
    )


def encoder(name, make):
    return Case(name, make, seq.encoder_arguments, seq.PADDED_ENCODER)


def bahdanau():
    return ks.BahdanauAttention(UNITS)


def of_keras(name, *sizes, **options):
    return L.KerasAttention(getattr(keras.layers, name)(*sizes, **options))


def keras_stack():
    cells = [keras.layers.LSTMCell(UNITS), keras.layers.LSTMCell(UNITS)]
    return keras.layers.StackedRNNCells(cells)


ATTENTIONS = {
    "bahdanau": bahdanau,
    "bahdanau_normalized": lambda: ks.BahdanauAttention(
        UNITS, normalize=True, value_units=5
    ),
    "luong_dot": lambda: ks.LuongAttention("dot", scale=True),
    "luong_scaled_dot": lambda: ks.LuongAttention("scaled_dot"),
    "luong_general": lambda: ks.LuongAttention("general"),
    "luong_concat": lambda: ks.LuongAttention("concat", units=UNITS),
    "luong_location": lambda: ks.LuongAttention("location", maximum_source=5),
    "projected_dot": lambda: L.ProjectedDotAttention(UNITS),
    "one_layer": L.OneLayerAttention,
    "coverage": lambda: L.CoverageAttention(UNITS),
    "location_sensitive": lambda: L.LocationSensitiveAttention(
        UNITS, filters=3, kernel_size=3
    ),
    "location_cumulative": lambda: L.LocationSensitiveAttention(
        UNITS, filters=3, kernel_size=3, use_cumulative=True
    ),
    "multi_head": lambda: L.MultiHeadAdditiveAttention(UNITS, heads=2),
    "multi_head_dot": lambda: L.MultiHeadAttention(UNITS, heads=2),
    "keras_multi_head": lambda: of_keras("MultiHeadAttention", 2, 3, use_bias=False),
    "keras_grouped": lambda: of_keras(
        "GroupQueryAttention", 3, 4, 2, use_bias=False, use_gate=True
    ),
    "keras_dot": lambda: of_keras("Attention", use_scale=True),
    "keras_additive": lambda: of_keras("AdditiveAttention"),
    "local_monotonic": lambda: L.LocalAttention(ks.LuongAttention(), window=2),
    "local_predictive": lambda: L.LocalAttention(
        ks.LuongAttention("concat"), window=3, position="predictive"
    ),
    "monotonic_soft": lambda: L.MonotonicAttention(bahdanau(), inference="soft"),
    "monotonic_closed": lambda: L.MonotonicAttention(
        bahdanau(), inference="soft", form="closed"
    ),
    "monotonic_hard": lambda: L.MonotonicAttention(bahdanau()),
}
ATTENTIONS = [attention(*row) for row in ATTENTIONS.items()]


def bahdanau_cell(attention=bahdanau, **options):
    return lambda: L.BahdanauCell(UNITS, attention(), **options)


def luong_cell(attention=ks.LuongAttention, **options):
    return lambda: L.LuongCell(UNITS, attention(), **options)


def gnmt_cell(**options):
    return lambda: L.GNMTCell(UNITS, bahdanau(), **options)


def local():
    return L.LocalAttention(ks.LuongAttention(), window=2)


def coverage():
    return L.CoverageAttention(UNITS)


def monotonic():
    return L.MonotonicAttention(coverage(), inference="soft")


def heads():
    return L.MultiHeadAdditiveAttention(UNITS, heads=2)


DECODERS = {
    "bahdanau_gru": bahdanau_cell(),
    "bahdanau_gru_paper": bahdanau_cell(cell="gru_paper", readout="previous_state"),
    "bahdanau_lstm_2": bahdanau_cell(cell="lstm", layers=2),
    "bahdanau_keras_gru": lambda: L.BahdanauCell(
        UNITS, bahdanau(), keras.layers.GRUCell(UNITS)
    ),
    "bahdanau_without_words": bahdanau_cell(
        cell="gru_paper", use_inputs=False, dropout=0.3, use_variational_dropout=True
    ),
    "luong_lstm": luong_cell(),
    "luong_lstm_concat": luong_cell(attentional="concat", use_input_feeding=False),
    "luong_simple_3": luong_cell(cell="simple", layers=3, attentional=None),
    "luong_no_feeding": luong_cell(
        bahdanau, use_input_feeding=False, attentional_activation=None
    ),
    "luong_keras_stack": lambda: L.LuongCell(UNITS, ks.LuongAttention(), keras_stack()),
    "gnmt": gnmt_cell(layers=4),
    "gnmt_current": gnmt_cell(layers=3, cell="gru", query="current"),
    "luong_local": luong_cell(local),
    "bahdanau_coverage": bahdanau_cell(coverage, cell="lstm"),
    "bahdanau_monotonic": bahdanau_cell(monotonic, cell="simple"),
    "bahdanau_multi_head": bahdanau_cell(heads),
    "context": lambda: L.ContextCell(UNITS),
    "context_fed": lambda: L.ContextCell(UNITS, "lstm", layers=2, use_context=True),
    "bahdanau_layer_norm_gru": bahdanau_cell(cell="layer_norm_gru"),
    "gnmt_layer_norm_lstm": gnmt_cell(
        cell="layer_norm_lstm", layers=2, readout="state_context"
    ),
    "luong_dropout": luong_cell(layers=2, dropout=0.3, recurrent_dropout=0.2, seed=1),
    "gnmt_variational_dropout": gnmt_cell(
        cell="gru_paper", layers=3, dropout=0.3, use_variational_dropout=True
    ),
    "conditional_gru": lambda: L.ConditionalCell(UNITS, bahdanau()),
    "conditional_lstm": lambda: L.ConditionalCell(UNITS, ks.LuongAttention(), "lstm"),
    "cho": lambda: L.ChoCell(UNITS),
    "cho_lstm_2": lambda: L.ChoCell(UNITS, cell="lstm", layers=2),
}
DECODERS = [decoder(*row) for row in DECODERS.items()]
ENCODERS = {
    "bi_lstm": lambda: ks.BiEncoder(UNITS, layers=2),
    "bi_gru_sum": lambda: ks.BiEncoder(UNITS, cell="gru", merge="sum"),
    "bi_gru_paper": lambda: ks.BiEncoder(UNITS, cell="gru_paper"),
    "bi_residual": lambda: ks.BiEncoder(UNITS, layers=2, residual_from=2),
    "bi_layer_norm_lstm": lambda: ks.BiEncoder(UNITS, "layer_norm_lstm"),
    "bi_layer_norm_gru": lambda: ks.BiEncoder(
        UNITS, "layer_norm_gru", recurrent_dropout=0.2, use_variational_dropout=True
    ),
    "bi_simple": lambda: ks.BiEncoder(UNITS, cell="simple"),
    "stacked": lambda: L.StackedEncoder(UNITS, layers=3),
    "uni_lstm": lambda: L.UniEncoder(UNITS, layers=2, residual_from=2),
    "uni_backwards": lambda: L.UniEncoder(UNITS, "gru", go_backwards=True),
    "pyramidal": lambda: L.PyramidalEncoder(UNITS, layers=2),
    "normalized": lambda: L.NormalizedEncoder(ks.BiEncoder(UNITS, "gru"), dropout=0.5),
}
ENCODERS = [encoder(*row) for row in ENCODERS.items()]


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
        return {"sequences": seq.normal(rng, batch, source, 4)}

    return Case(name, make, arguments, padding={})


KERAS_CELLS = [
    keras_rnn("layer_norm_lstm_cell", L.LayerNormLSTMCell),
    keras_rnn("layer_norm_gru_cell", L.LayerNormGRUCell),
]


def encoded_arguments(rng, batch, source, target):
    """Of a bridge: what a one-layer BiEncoder returns, its padding zero."""
    mask = seq.mask_of(np.linspace(source, 1, batch).astype(int), source)
    values = seq.normal(rng, batch, source, UNITS) * mask[..., None]
    state = [[seq.normal(rng, batch, UNITS), seq.normal(rng, batch, UNITS)]]
    return {"encoded": ks.types.Encoded(values, mask, state)}


def bridge(name, make):
    return Case(name, make, encoded_arguments, padding={})


BRIDGES = {
    "zero_bridge": lambda: L.ZeroBridge([5, 5]),
    "copy_bridge": lambda: L.CopyBridge(),
    "dense_bridge": lambda: L.DenseBridge([5, [4, 4]]),
    "dense_bridge_backward": lambda: L.DenseBridge(5, inputs="backward"),
    "dense_bridge_mean": lambda: L.DenseBridge(5, inputs="mean"),
}
BRIDGES = [bridge(*row) for row in BRIDGES.items()]


def transformer_encoder(name, **options):
    def arguments(rng, batch, source, target):
        values = seq.encoder_arguments(rng, batch, source, target)
        return values | {"inputs": seq.normal(rng, batch, source, UNITS)}

    def make():
        return L.TransformerEncoder(UNITS, layers=2, heads=2, **options)

    return Case(name, make, arguments, seq.PADDED_ENCODER)


def transformer_decoder(name, **options):
    def arguments(rng, batch, source, target):
        attention = seq.attention_arguments(
            rng, batch, source, target, query_depth=UNITS
        )
        return {
            "inputs": attention["query"],
            "value": attention["value"],
            "inputs_mask": attention["query_mask"],
            "value_mask": attention["value_mask"],
            "return_attention_scores": True,
        }

    def make():
        return L.TransformerDecoder(UNITS, layers=2, heads=2, **options)

    def stepwise(decoder, inputs, **options):
        room = inputs.shape[1]
        results = seq.decoder_stepwise(decoder, inputs, max_length=room, **options)
        return results[:2]

    return Case(name, make, arguments, seq.PADDED_DECODER, stepwise)


TRANSFORMERS = [
    transformer_encoder("transformer_encoder"),
    transformer_encoder("transformer_encoder_pre", norm_first=True, dropout=0.2),
    transformer_decoder("transformer_decoder"),
    transformer_decoder("transformer_decoder_pre", norm_first=True, dropout=0.2),
    encoder("position_embedding", lambda: L.PositionEmbedding("learned", 16)),
]


def pretrained():
    """A backbone of numbers: ids cannot be NaN, nor do they have gradients."""
    inputs = keras.Input((None, 5), name="numbers")
    recurrent = keras.layers.LSTM(UNITS, return_sequences=True, name="recurrent")
    backbone = keras.Model(inputs, recurrent(inputs), name="backbone")
    return L.PretrainedEncoder(backbone)


PRETRAINED = [encoder("pretrained_encoder", pretrained)]


def head(name, make, mask_name, *more):
    def arguments(rng, batch, source, target):
        lengths = np.linspace(target, 1, batch).astype(int)
        depths = {"outputs": 4} | dict.fromkeys(more, 3)
        tensors = {n: seq.normal(rng, batch, target, d) for n, d in depths.items()}
        return {**tensors, mask_name: seq.mask_of(lengths, target)}

    padding = dict.fromkeys(("outputs", *more), mask_name)
    return Case(name, make, arguments, padding, zeros=False)


def deep_head(name, make_embedding, **options):
    def make():
        return L.DeepOutputHead(11, UNITS, embedding=make_embedding(), **options)

    return head(name, make, "outputs_mask", "inputs")


def embedding():
    return keras.layers.ReversibleEmbedding(11, 3)


NEMATUS = {"pieces": 1, "activation": "tanh", "dropout": 0.5, "seed": 1}
HEADS = [
    head("output_head", lambda: L.OutputHead(11), "mask"),
    head("output_head_tied", lambda: L.OutputHead(11, embedding=embedding()), "mask"),
    deep_head("deep_output_head", embedding, pieces=3),
    deep_head("deep_output_head_nematus", lambda: None, **NEMATUS),
]
ROWS = [*ATTENTIONS, *DECODERS, *ENCODERS, *TRANSFORMERS, *PRETRAINED]
ROWS += [*KERAS_CELLS, *BRIDGES, *HEADS]


@functools.cache
def first_rows():
    """The first row with each class of layers and of cells; the others are variants."""
    found = {}
    for row in ROWS:
        layer = row.make()
        for part in (getattr(layer, "cell", layer), layer):
            found.setdefault(type(part), row)
    return found


def is_first(row):
    return any(row is first for first in first_rows().values())
