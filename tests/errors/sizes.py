"""Sizes and rates share their texts: owner, argument, how to pass it."""

import keras_seqattn as ks
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import DenseBridge, ZeroBridge
from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.layers.uni_encoder import UniEncoder
from tests.errors.valid_arguments import UNITS, additive, bahdanau_cell

SIZES = [
    ("Attention", "value_units", lambda n: ks.layers.Attention(value_units=n)),
    ("BahdanauAttention", "units", lambda n: ks.BahdanauAttention(n)),
    ("CoverageAttention", "units", lambda n: ks.layers.CoverageAttention(n)),
    ("ProjectedDotAttention", "units", lambda n: ks.layers.ProjectedDotAttention(n)),
    ("LuongAttention", "units", lambda n: ks.LuongAttention("concat", units=n)),
    (
        "LuongAttention",
        "maximum_source",
        lambda n: ks.LuongAttention("location", maximum_source=n),
    ),
    ("LocalAttention", "window", lambda n: ks.layers.LocalAttention(additive(), n)),
    (
        "LocalAttention",
        "units",
        lambda n: ks.layers.LocalAttention(additive(), position="predictive", units=n),
    ),
    (
        "LocationSensitiveAttention",
        "units",
        lambda n: ks.layers.LocationSensitiveAttention(n),
    ),
    (
        "LocationSensitiveAttention",
        "filters",
        lambda n: ks.layers.LocationSensitiveAttention(UNITS, filters=n),
    ),
    (
        "LocationSensitiveAttention",
        "kernel_size",
        lambda n: ks.layers.LocationSensitiveAttention(UNITS, kernel_size=n),
    ),
    (
        "MultiHeadAdditiveAttention",
        "units",
        lambda n: ks.layers.MultiHeadAdditiveAttention(n),
    ),
    (
        "MultiHeadAdditiveAttention",
        "heads",
        lambda n: ks.layers.MultiHeadAdditiveAttention(UNITS, heads=n),
    ),
    (
        "MultiHeadAdditiveAttention",
        "value_units",
        lambda n: ks.layers.MultiHeadAdditiveAttention(UNITS, 1, value_units=n),
    ),
    ("BahdanauCell", "units", lambda n: ks.layers.BahdanauCell(n, additive())),
    ("BahdanauCell", "layers", lambda n: bahdanau_cell(layers=n)),
    ("LuongCell", "units", lambda n: ks.layers.LuongCell(n, additive())),
    (
        "LuongCell",
        "attentional",
        lambda n: ks.layers.LuongCell(UNITS, additive(), attentional=n),
    ),
    ("GNMTCell", "units", lambda n: ks.layers.GNMTCell(n, additive())),
    ("GNMTCell", "layers", lambda n: ks.layers.GNMTCell(UNITS, additive(), layers=n)),
    (
        "GNMTCell",
        "residual_from",
        lambda n: ks.layers.GNMTCell(UNITS, additive(), residual_from=n),
    ),
    ("ContextCell", "units", lambda n: ks.layers.ContextCell(n)),
    ("ChoCell", "units", lambda n: ks.layers.ChoCell(n)),
    ("ConditionalCell", "units", lambda n: ks.layers.ConditionalCell(n, additive())),
    (
        "ConditionalCell",
        "layers",
        lambda n: ks.layers.ConditionalCell(UNITS, additive(), layers=n),
    ),
    ("OutputHead", "vocabulary_size", lambda n: OutputHead(n)),
    ("DeepOutputHead", "units", lambda n: DeepOutputHead(9, units=n)),
    ("DeepOutputHead", "pieces", lambda n: DeepOutputHead(9, units=2, pieces=n)),
    ("BiEncoder", "units", lambda n: BiEncoder(n)),
    ("BiEncoder", "layers", lambda n: BiEncoder(UNITS, layers=n)),
    ("BiEncoder", "residual_from", lambda n: BiEncoder(UNITS, residual_from=n)),
    ("StackedEncoder", "units", lambda n: StackedEncoder(n)),
    ("StackedEncoder", "layers", lambda n: StackedEncoder(UNITS, layers=n)),
    ("PyramidalEncoder", "layers", lambda n: PyramidalEncoder(UNITS, layers=n)),
    ("PyramidalEncoder", "factor", lambda n: PyramidalEncoder(UNITS, factor=n)),
    ("UniEncoder", "layers", lambda n: UniEncoder(UNITS, layers=n)),
    ("UniEncoder", "residual_from", lambda n: UniEncoder(UNITS, residual_from=n)),
    ("ZeroBridge", "state_size", lambda n: ZeroBridge([UNITS, n])),
    ("DenseBridge", "state_size", lambda n: DenseBridge(n)),
]
RATES = [
    ("BahdanauCell", lambda rate: bahdanau_cell(dropout=rate)),
    (
        "BahdanauAttention",
        lambda rate: ks.BahdanauAttention(UNITS, dropout=rate),
    ),
    ("BiEncoder", lambda rate: BiEncoder(UNITS, dropout=rate)),
    ("OutputHead", lambda rate: OutputHead(9, dropout=rate)),
    ("DeepOutputHead", lambda rate: DeepOutputHead(9, UNITS, dropout=rate)),
]
