"""Registered objects without weights, and numbers that they must give again."""

import keras
import numpy as np

from tests.stored import project as ks
from tests.stored.models import LABELS

_RULES = {"min_length": 1, "forbidden_tokens": (5, 7), "no_repeat_ngram": 3}
STEPS = (0, 1, 10, 300, 5000, 1_300_000)


def objects():
    """By name; all options differ from their defaults."""
    decay = ks.HalvingDecay(0.5, start=200, every=50, times=4, warmup=20, name="decay")
    return {
        "greedy": ks.Greedy(**_RULES),
        "beam": ks.BeamSearch(4, 0.6, 0.2, 2, False, **_RULES),
        "sample": ks.Sample(0.7, 5, 0.9, 2, 3, **_RULES),
        "length": ks.RelativeLength(1.5, plus=3, at_most=40),
        "decay": decay,
        "luong2015": ks.HalvingDecay.luong2015(100, dropout=True),
        "tensorflow_nmt": ks.HalvingDecay.tensorflow_nmt("luong234", 900, 0.1, 30),
        "rnmt_plus": ks.RNMTPlusSchedule(4, 400, 900, 30, 0.002, name="rise"),
        "constant": ks.ConstantProbability(0.25),
        "linear": ks.LinearProbability(1e-3, initial=0.1, maximum=0.9),
        "exponential": ks.ExponentialProbability(0.999),
        "sigmoid": ks.InverseSigmoidProbability(50.0),
        "adam": ks.FusedAdam(decay, beta_1=0.8, use_ema=True, ema_momentum=0.9),
        "smoothed": ks.SmoothedCrossentropy(0.2),
        "fused": ks.FusedCrossentropy(0.1),
        "accuracy": ks.TokenAccuracy(name="right"),
        "perplexity": ks.Perplexity(name="surprise"),
    }


def described(thing):
    """What Keras writes about an object, without the module, which may change."""
    return without_module(keras.saving.serialize_keras_object(thing))


def without_module(value):
    if isinstance(value, dict):
        return {k: without_module(x) for k, x in value.items() if k != "module"}
    if isinstance(value, (list, tuple)):
        return [without_module(x) for x in value]
    return value


def numbers(thing):
    """What a schedule, a probability, a loss or a metric gives; of others nothing."""
    if isinstance(thing, keras.metrics.Metric):
        thing.update_state(LABELS, _logits())
        return [float(thing.result())]
    if isinstance(thing, keras.losses.Loss):
        return [float(thing(LABELS, _logits()))]
    if callable(thing):
        return [float(thing(step)) for step in STEPS]
    return []


def _logits():
    made = np.random.default_rng(7).normal(size=(*LABELS.shape, 19))
    return keras.ops.convert_to_tensor(made.astype("float32"))
