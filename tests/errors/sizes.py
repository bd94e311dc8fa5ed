"""Sizes and rates: class, valid arguments, and the names of those that are tried."""

import keras_seqattn as ks
from keras_seqattn import layers
from tests.errors.valid_arguments import additive

UNITS = {"units": 3}
CELL = {**UNITS, "attention": additive()}
INNER = {"attention": additive()}
HALVING = {"initial_learning_rate": 1.0, "start": 1, "every": 1}
HEAD = {"vocabulary_size": 9}

RNMT = {"replicas": 1, "start": 5, "end": 6}
ONE_SIZE = [layers.BahdanauAttention, layers.CoverageAttention, layers.ContextCell]
ONE_SIZE += [layers.ProjectedDotAttention, layers.ChoCell]

SIZES = [
    *[(kind, {}, "units") for kind in ONE_SIZE],
    (layers.Attention, {}, "value_units"),
    (layers.LuongAttention, {"score": "concat"}, "units"),
    (layers.LuongAttention, {"score": "location"}, "maximum_source"),
    (layers.LocalAttention, INNER, "window"),
    (layers.LocalAttention, {**INNER, "position": "predictive"}, "units"),
    (layers.LocationSensitiveAttention, UNITS, "units filters kernel_size"),
    (layers.MultiHeadAdditiveAttention, {**UNITS, "heads": 1}, "units heads"),
    (layers.MultiHeadAdditiveAttention, {**UNITS, "heads": 1}, "value_units"),
    (layers.BahdanauCell, CELL, "units layers"),
    (layers.LuongCell, CELL, "units"),
    (layers.GNMTCell, CELL, "units layers residual_from"),
    (layers.ConditionalCell, CELL, "units layers"),
    (layers.OutputHead, {}, "vocabulary_size"),
    (layers.DeepOutputHead, HEAD, "units"),
    (layers.DeepOutputHead, {**HEAD, **UNITS}, "pieces"),
    (layers.BiEncoder, UNITS, "units layers residual_from"),
    (layers.StackedEncoder, UNITS, "units layers"),
    (layers.PyramidalEncoder, UNITS, "layers factor"),
    (layers.UniEncoder, UNITS, "layers residual_from"),
    (layers.ZeroBridge, {}, "state_size"),
    (layers.DenseBridge, {}, "state_size"),
    (ks.BeamSearch, {}, "width n_best"),
    (ks.decoding.Sample, {}, "top_k n_best"),
    (ks.decoding.RelativeLength, {}, "at_most"),
    (ks.optimizers.HalvingDecay, HALVING, "start every times"),
    (ks.optimizers.RNMTPlusSchedule, RNMT, "replicas start end warmup"),
    (ks.callbacks.DivergenceGuard, {}, "every"),
]
RATES = [
    (layers.BahdanauAttention, UNITS, "dropout"),
    (layers.BahdanauCell, CELL, "dropout recurrent_dropout"),
    (layers.BiEncoder, UNITS, "dropout recurrent_dropout"),
    (layers.NormalizedEncoder, {"encoder": layers.BiEncoder(3)}, "dropout"),
    (layers.OutputHead, HEAD, "dropout"),
    (layers.DeepOutputHead, {**HEAD, **UNITS}, "dropout"),
    (ks.losses.SmoothedCrossentropy, {}, "label_smoothing"),
]
