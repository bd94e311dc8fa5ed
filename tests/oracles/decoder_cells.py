"""The decoder cells that are compared with the oracles: `CELLS[name](dtype=...)`."""

import keras

import keras_seqattn as ks

UNITS = 5


def additive(**kwargs):
    return ks.BahdanauAttention(7, **kwargs)


def general(**kwargs):
    return ks.LuongAttention("general", **kwargs)


def bahdanau(cell="gru", attention=additive, **options):
    return lambda **k: ks.layers.BahdanauCell(
        UNITS, attention(**k), cell=cell, **options, **k
    )


def luong(cell="lstm", attention=general, **options):
    return lambda **k: ks.layers.LuongCell(
        UNITS, attention(**k), cell=cell, **options, **k
    )


def gnmt(cell="lstm", attention=additive, **options):
    return lambda **k: ks.layers.GNMTCell(
        UNITS, attention(**k), cell=cell, **options, **k
    )


def context(cell, **options):
    return lambda **k: ks.layers.ContextCell(UNITS, cell=cell, **options, **k)


def conditional(cell="gru", attention=additive, **options):
    return lambda **k: ks.layers.ConditionalCell(
        UNITS, attention(**k), cell=cell, **options, **k
    )


def conditional_stock(**kwargs):
    cell = keras.layers.GRUCell(UNITS, **kwargs)
    return ks.layers.ConditionalCell(UNITS, additive(**kwargs), cell=cell, **kwargs)


def cho(cell="gru_paper", **options):
    return lambda **k: ks.layers.ChoCell(UNITS, cell=cell, **options, **k)


def cho_stock(**kwargs):
    cell = keras.layers.LSTMCell(UNITS, **kwargs)
    return ks.layers.ChoCell(UNITS, cell=cell, **kwargs)


def local(**kwargs):
    return ks.layers.LocalAttention(general(**kwargs), window=1, **kwargs)


def monotonic(**kwargs):
    inner = additive(normalize=True, **kwargs)
    return ks.layers.MonotonicAttention(inner, inference="soft", **kwargs)


def coverage(**kwargs):
    return ks.layers.CoverageAttention(7, value_units=4, **kwargs)


def location_sensitive(**kwargs):
    return ks.layers.LocationSensitiveAttention(7, filters=2, kernel_size=3, **kwargs)


def multi_head(**kwargs):
    return ks.layers.MultiHeadAdditiveAttention(8, heads=2, value_units=4, **kwargs)


def one_layer(**kwargs):
    return ks.layers.OneLayerAttention(value_units=4, **kwargs)


def stacked_lstm(**kwargs):
    cells = [keras.layers.LSTMCell(UNITS, **kwargs) for _ in range(2)]
    stack = keras.layers.StackedRNNCells(cells, **kwargs)
    return ks.layers.LuongCell(UNITS, general(**kwargs), cell=stack, **kwargs)


def stock_gru(**kwargs):
    cell = keras.layers.GRUCell(UNITS, **kwargs)
    return ks.layers.BahdanauCell(UNITS, additive(**kwargs), cell=cell, **kwargs)


def our_gru(**kwargs):
    cell = ks.layers.LayerNormGRUCell(UNITS, **kwargs)
    return ks.layers.BahdanauCell(UNITS, additive(**kwargs), cell=cell, **kwargs)


CELLS = {
    **{
        f"bahdanau_{cell}_{readout}": bahdanau(cell, readout=readout)
        for cell in ("gru", "gru_paper", "lstm", "simple")
        for readout in ("state", "previous_state")
    },
    "bahdanau_layer_norm_gru": bahdanau("layer_norm_gru"),
    "bahdanau_layer_norm_lstm_2": bahdanau("layer_norm_lstm", layers=2),
    "bahdanau_layer_norm_gru_cell": our_gru,
    "bahdanau_two_layers": bahdanau("lstm", layers=2),
    "bahdanau_three_layers": bahdanau("gru", layers=3, readout="previous_state"),
    "bahdanau_stock_gru": stock_gru,
    "bahdanau_monotonic": bahdanau("gru", monotonic),
    "bahdanau_coverage": bahdanau("lstm", coverage),
    "bahdanau_location_sensitive": bahdanau("gru_paper", location_sensitive),
    "bahdanau_one_layer": bahdanau("simple", one_layer),
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
    "luong_two_layers": luong(layers=2),
    "luong_two_layers_not_fed": luong("gru", layers=2, use_input_feeding=False),
    "luong_stock_stack": stacked_lstm,
    "luong_local": luong("lstm", local),
    "luong_multi_head": luong("lstm", multi_head),
    "gnmt": gnmt(layers=4),
    "gnmt_two_layers": gnmt("gru", layers=2),
    "gnmt_residual_from_2": gnmt("simple", layers=3, residual_from=2),
    "gnmt_layer_norm": gnmt("layer_norm_lstm", layers=3),
    "gnmt_state_context": gnmt("gru", layers=3, readout="state_context"),
    "gnmt_current_state_context": gnmt(
        layers=2, query="current", readout="state_context"
    ),
    "gnmt_current": gnmt(layers=4, query="current"),
    "gnmt_current_gru_paper": gnmt("gru_paper", layers=2, query="current"),
    "gnmt_coverage": gnmt("gru", coverage, layers=3),
    "gnmt_current_coverage": gnmt("gru", coverage, layers=3, query="current"),
    "context": context("lstm", layers=2),
    "context_gru_paper": context("gru_paper"),
    "context_fed": context("gru", use_context=True),
    "context_fed_two_layers": context("lstm", layers=2, use_context=True),
    **{
        f"conditional_{cell}": conditional(cell)
        for cell in ("gru", "gru_paper", "lstm", "simple")
    },
    "conditional_coverage": conditional("gru", coverage),
    "conditional_stock_gru": conditional_stock,
    "cho": cho(),
    "cho_lstm": cho("lstm"),
    "cho_stock_lstm": cho_stock,
    "cho_two_layers": cho("gru", layers=2),
    "cho_lstm_two_layers": cho("lstm", layers=2),
}
