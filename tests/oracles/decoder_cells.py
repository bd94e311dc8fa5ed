"""The decoder cells that are compared with the oracles: `CELLS[name](dtype=...)`."""

import keras

import keras_seqattn as ks
from tests.oracles.makers import around, of

UNITS = 5
LAYERS = ks.layers
ADDITIVE = of(ks.BahdanauAttention, 7)
GENERAL = of(ks.LuongAttention, "general")
LOCAL = around(LAYERS.LocalAttention, GENERAL, window=1)
MONOTONIC = around(
    LAYERS.MonotonicAttention,
    of(ks.BahdanauAttention, 7, normalize=True),
    inference="soft",
)
COVERAGE = of(LAYERS.CoverageAttention, 7, value_units=4)
LOCATION_SENSITIVE = of(LAYERS.LocationSensitiveAttention, 7, filters=2, kernel_size=3)
MULTI_HEAD = of(LAYERS.MultiHeadAdditiveAttention, 8, heads=2, value_units=4)
ONE_LAYER = of(LAYERS.OneLayerAttention, value_units=4)
STOCK_GRU = of(keras.layers.GRUCell, UNITS)
STOCK_LSTM = of(keras.layers.LSTMCell, UNITS)
OUR_GRU = of(LAYERS.LayerNormGRUCell, UNITS)


def stock_stack(**kwargs):
    cells = [STOCK_LSTM(**kwargs) for _ in range(2)]
    return keras.layers.StackedRNNCells(cells, **kwargs)


def decoder_cell(layer, cell, *attention, **options):
    """`cell` is a name, or it makes a Keras cell."""

    def make(**k):
        inner = cell if isinstance(cell, str) else cell(**k)
        mechanisms = [attend(**k) for attend in attention]
        return layer(UNITS, *mechanisms, cell=inner, **options, **k)

    return make


def bahdanau(cell, attention=ADDITIVE, **options):
    return decoder_cell(LAYERS.BahdanauCell, cell, attention, **options)


def luong(cell="lstm", attention=GENERAL, **options):
    return decoder_cell(LAYERS.LuongCell, cell, attention, **options)


def gnmt(cell="lstm", attention=ADDITIVE, **options):
    return decoder_cell(LAYERS.GNMTCell, cell, attention, **options)


def conditional(cell, attention=ADDITIVE):
    return decoder_cell(LAYERS.ConditionalCell, cell, attention)


def context(cell, **options):
    return decoder_cell(LAYERS.ContextCell, cell, **options)


def cho(cell="gru_paper", **options):
    return decoder_cell(LAYERS.ChoCell, cell, **options)


CELLS = {
    **{
        f"bahdanau_{cell}_{readout}": bahdanau(cell, readout=readout)
        for cell in ("gru", "gru_paper", "lstm", "simple")
        for readout in ("state", "previous_state")
    },
    "bahdanau_layer_norm_gru": bahdanau("layer_norm_gru"),
    "bahdanau_layer_norm_lstm_2": bahdanau("layer_norm_lstm", layers=2),
    "bahdanau_layer_norm_gru_cell": bahdanau(OUR_GRU),
    "bahdanau_two_layers": bahdanau("lstm", layers=2),
    "bahdanau_three_layers": bahdanau("gru", layers=3, readout="previous_state"),
    "bahdanau_stock_gru": bahdanau(STOCK_GRU),
    "bahdanau_without_words": bahdanau("simple", ONE_LAYER, use_inputs=False),
    "bahdanau_two_layers_without_words": bahdanau("lstm", layers=2, use_inputs=False),
    "bahdanau_monotonic": bahdanau("gru", MONOTONIC),
    "bahdanau_coverage": bahdanau("lstm", COVERAGE),
    "bahdanau_location_sensitive": bahdanau("gru_paper", LOCATION_SENSITIVE),
    "bahdanau_one_layer": bahdanau("simple", ONE_LAYER),
    **{
        f"luong_{cell}_{feeding}": luong(cell, use_input_feeding=feeding == "fed")
        for cell in ("lstm", "gru", "gru_paper", "simple")
        for feeding in ("fed", "not_fed")
    },
    "luong_layer_norm_lstm": luong("layer_norm_lstm"),
    "luong_layer_norm_gru_not_fed": luong("layer_norm_gru", use_input_feeding=False),
    "luong_attentional_size": luong(attentional=9),
    "luong_linear": luong(attentional_activation=None),
    "luong_no_attentional": luong(attentional=None),
    "luong_no_attentional_not_fed": luong(attentional=None, use_input_feeding=False),
    "luong_concat": luong(attentional="concat"),
    "luong_concat_not_fed": luong(attentional="concat", use_input_feeding=False),
    "luong_two_layers": luong(layers=2),
    "luong_two_layers_not_fed": luong("gru", layers=2, use_input_feeding=False),
    "luong_stock_stack": luong(stock_stack),
    "luong_local": luong("lstm", LOCAL),
    "luong_multi_head": luong("lstm", MULTI_HEAD),
    "gnmt": gnmt(layers=4),
    "gnmt_two_layers": gnmt("gru", layers=2),
    "gnmt_residual_from_2": gnmt("simple", layers=3, residual_from=2),
    "gnmt_layer_norm": gnmt("layer_norm_lstm", layers=3),
    "gnmt_state_context": gnmt("gru", layers=3, readout="state_context"),
    "gnmt_current_context": gnmt(layers=2, query="current", readout="state_context"),
    "gnmt_current": gnmt(layers=4, query="current"),
    "gnmt_current_gru_paper": gnmt("gru_paper", layers=2, query="current"),
    "gnmt_coverage": gnmt("gru", COVERAGE, layers=3),
    "gnmt_current_coverage": gnmt("gru", COVERAGE, layers=3, query="current"),
    "context": context("lstm", layers=2),
    "context_gru_paper": context("gru_paper"),
    "context_fed": context("gru", use_context=True),
    "context_fed_two_layers": context("lstm", layers=2, use_context=True),
    **{
        f"conditional_{cell}": conditional(cell)
        for cell in ("gru", "gru_paper", "lstm", "simple")
    },
    "conditional_coverage": conditional("gru", COVERAGE),
    "conditional_stock_gru": conditional(STOCK_GRU),
    "cho": cho(),
    "cho_lstm": cho("lstm"),
    "cho_stock_lstm": cho(STOCK_LSTM),
    "cho_two_layers": cho("gru", layers=2),
    "cho_lstm_two_layers": cho("lstm", layers=2),
}
