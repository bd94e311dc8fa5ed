"""Losses, schedules and models of the training that cannot be, and their errors."""

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn.models import (
    ConstantProbability,
    ExponentialProbability,
    InverseSigmoidProbability,
    LinearProbability,
    ScheduledSampling,
)
from keras_seqattn.optimizers import FusedAdam, HalvingDecay, RNMTPlusSchedule

IDS, NEW = np.ones((1, 2), int), keras.Sequential([keras.layers.Dense(1)], name="new")


class Silent(ks.models.SamplingProbability):
    pass


def stand_in():
    names = "source", "target"
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in names}
    logits = keras.layers.Embedding(5, 5, name="logits")(inputs["target"])
    return keras.Model(inputs, logits, name="stand_in")


def train(inputs):
    scheduled = ScheduledSampling(stand_in(), ConstantProbability(0.5))
    scheduled(inputs, training=True)


def average(paths, model=None):
    ks.models.average_checkpoints(model or stand_in(), paths)


def freeze(names):
    ks.models.freeze(stand_in(), names)


def quantized():
    inputs = keras.Input((4,))
    product = keras.layers.Dense(3, name="product")
    model = keras.Model(inputs, product(inputs))
    product.quantize("int8")
    return model


SCHEDULES = {
    "HalvingDecay got": {
        "an unusable initial_learning_rate. Expected a positive number, received 0.0. "
        "Pass e.g. 1.0 for SGD, 0.001 for Adam.": lambda: HalvingDecay(0.0, 1, 1),
        "an unusable initial_learning_rate ... '1'": lambda: HalvingDecay("1", 1, 1),
        "an unusable initial_learning_rate ... True": lambda: HalvingDecay(True, 1, 1),
        "an unusable warmup": lambda: HalvingDecay(1.0, 1, 1, warmup=-1),
    },
    "HalvingDecay.luong2015 got an unusable steps_per_epoch ... =1.5. Pass a Python "
    "int, 1 or more": lambda: HalvingDecay.luong2015(1.5),
    "HalvingDecay.tensorflow_nmt got an unusable training_steps. Expected a positive "
    "integer": lambda: HalvingDecay.tensorflow_nmt("luong5", 0),
    "HalvingDecay.tensorflow_nmt got an unknown scheme ... Use 'luong5', the "
    "nearest": lambda: HalvingDecay.tensorflow_nmt("luong7", 100),
    "HalvingDecay.nvidia_gnmt got an unusable training_steps. Expected a positive "
    "integer, received training_steps=0": lambda: HalvingDecay.nvidia_gnmt(0, 1e-3),
    "RNMTPlusSchedule got an unusable initial_learning_rate ... received -1. Pass "
    "e.g": lambda: RNMTPlusSchedule(1, 5, 6, initial_learning_rate=-1),
    "RNMTPlusSchedule got an end that ... end=5": lambda: RNMTPlusSchedule(1, 5, 5),
}
SAMPLING = {
    "Silent does not say its probability": lambda: Silent()(1),
    "ConstantProbability got an unusable probability. Expected a number in [0, 1], "
    "received probability=1.5. Use 0 for teacher forcing, 1 for the model's own tokens "
    "only.": lambda: ConstantProbability(1.5),
    "LinearProbability got an unusable slope ... slope=0": lambda: LinearProbability(0),
    "LinearProbability got an ... initial=-1": lambda: LinearProbability(1, initial=-1),
    "LinearProbability got an ... maximum=2": lambda: LinearProbability(1, maximum=2),
    "ExponentialProbability got an ... k=1.0": lambda: ExponentialProbability(1.0),
    "InverseSigmoidProbability got ... k=0.5": lambda: InverseSigmoidProbability(0.5),
    "ScheduledSampling got an unusable model ... received 'seq2seq'. Pass e.g. a "
    "Seq2Seq": lambda: ScheduledSampling("seq2seq", ConstantProbability(0.5)),
    "ScheduledSampling got an unusable probability ... "
    "ConstantProbability(0.25)": lambda: ScheduledSampling(stand_in(), 0.25),
    "ScheduledSampling got unusable inputs ... 'target' [batch, target], received "
    "['source']. Pass the dict": lambda: train({"source": 1}),
    "ScheduledSampling got unusable inputs ... ndarray": lambda: train(IDS),
    "ScheduledSampling got no optimizer": lambda: train({"source": IDS, "target": IDS}),
}
AVERAGING = {
    "average_checkpoints got": {
        "a quantised model ... received ['product'] in integers with scales. Average "
        "first, then quantize": lambda: average(["a.weights.h5"], quantized()),
        "nothing to average": lambda: average([]),
        "unusable arguments ... stand_in, built=True>. Pass the model first": lambda: (
            ks.models.average_checkpoints(["a.weights.h5"], stand_in())
        ),
        "one path ... Put it into a list: ['a.weights.h5']": lambda: average(
            "a.weights.h5"
        ),
        "paths that do not exist": lambda: average(["none.keras"]),
        "a model without weights ... 'new' with built=False": lambda: average(
            ["x"], NEW
        ),
    },
    "average_checkpoints got a file that does not fit the model ... 'stand_in' in "
    f"a .weights.h5 or .keras file, received {__file__!r}": lambda: average([__file__]),
}
RATES = {
    "FusedAdam got an unusable learning_rate ... learning_rate='0.001'. Pass a Python "
    "float": lambda: FusedAdam("0.001"),
    "FusedAdam got an unusable learning_rate ... =-1": lambda: FusedAdam(-1),
    "FusedAdam got an unknown argument ... 'lr'. Use 'learning_rate'": lambda: (
        FusedAdam(lr=0.1)
    ),
}
FREEZING = {
    "freeze got unusable names ... 'encoder'. Write": lambda: freeze("encoder"),
    "freeze found no layer of this name that has weights. Expected logits, or a layer "
    "... 'logit'. Use 'logits', the nearest": lambda: freeze(["logit"]),
    "freeze found no layer of this name ... 'target'. Check the": lambda: freeze(
        ["target"]  # an input, which has no weights
    ),
    "freeze got all layers that training could change ... received 'logits'": lambda: (
        freeze(["logits"])
    ),
}
TRAINING = [FREEZING, RATES, SCHEDULES, SAMPLING, AVERAGING]
