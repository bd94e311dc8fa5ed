"""Every error of losses, metrics, callbacks and optimizers; all are tried."""

import ast
import traceback
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.errors import training as metric_errors

PACKAGE = Path(ks.__file__).parent
FILES = [
    path
    for folder in ("losses", "metrics", "callbacks", "optimizers", "models")
    for path in (PACKAGE / folder).glob("*.py")
    # tests/tensorboard/test_messages.py and tests/errors/test_messages.py try these.
    if not path.name.startswith(("attention_", "seq2seq", "summary"))
]


class Silent(ks.models.SamplingProbability):
    pass


def stand_in():
    inputs = {name: keras.Input((None,), name=name) for name in ("source", "target")}
    logits = keras.layers.Embedding(5, 5)(inputs["target"])
    return keras.Model(inputs, logits, name="stand_in")


def scheduled():
    return ks.models.ScheduledSampling(stand_in(), ks.models.ConstantProbability(0.5))


def average(paths, model=None):
    ks.models.average_checkpoints(model or stand_in(), paths)


def size(owner, name, received):
    return (
        f"{owner} got an unusable {name}. Expected a positive integer, received "
        f"{name}={received!r}. Pass a Python int, 1 or more."
    )


def rate(owner, received):
    return (
        f"{owner} got an unusable initial_learning_rate. Expected a positive number, "
        f"received {received!r}. Pass e.g. 1.0 for SGD, 0.001 for Adam."
    )


def probability(owner, name, received):
    return (
        f"{owner} got an unusable {name}. Expected a number in [0, 1], received "
        f"{name}={received!r}. Use 0 for teacher forcing, 1 for the model's own "
        "tokens only."
    )


NO_INPUTS = (
    "ScheduledSampling got unusable inputs. Expected a dict with the ids 'source' and "
    "'target', received {}. Call it as "
    'scheduled({{"source": source, "target": target}}, training=True).'
)


def quantized():
    inputs = keras.Input((4,))
    product = keras.layers.Dense(3, name="product")
    model = keras.Model(inputs, product(inputs))
    product.quantize("int8")
    return model


ROWS = [
    (
        lambda: average(["a.weights.h5"], quantized()),
        "average_checkpoints got a quantised model. Expected float weights, which can "
        "be averaged, received ['product'] in integers with scales. Average first, "
        "then quantize.",
    ),
    (
        lambda: ks.losses.SmoothedCrossentropy(1.0),
        "SmoothedCrossentropy got an unusable label_smoothing. Expected a rate in "
        "[0, 1), received label_smoothing=1.0. Use 0 to switch it off.",
    ),
    (lambda: ks.optimizers.HalvingDecay(0.0, 1, 1), rate("HalvingDecay", 0.0)),
    (lambda: ks.optimizers.HalvingDecay("1", 1, 1), rate("HalvingDecay", "1")),
    (lambda: ks.optimizers.HalvingDecay(True, 1, 1), rate("HalvingDecay", True)),
    (lambda: ks.optimizers.HalvingDecay(1.0, 0, 1), size("HalvingDecay", "start", 0)),
    (
        lambda: ks.optimizers.HalvingDecay(1.0, 1, 0.5),
        size("HalvingDecay", "every", 0.5),
    ),
    (
        lambda: ks.optimizers.HalvingDecay(1.0, 1, 1, times=0),
        size("HalvingDecay", "times", 0),
    ),
    (
        lambda: ks.optimizers.HalvingDecay(1.0, 1, 1, warmup=-1),
        size("HalvingDecay", "warmup", -1),
    ),
    (
        lambda: ks.optimizers.HalvingDecay.luong2015(1.5),
        size("HalvingDecay.luong2015", "steps_per_epoch", 1.5),
    ),
    (
        lambda: ks.optimizers.HalvingDecay.tensorflow_nmt("luong5", 0),
        size("HalvingDecay.tensorflow_nmt", "training_steps", 0),
    ),
    (
        lambda: ks.optimizers.HalvingDecay.tensorflow_nmt("luong7", 100),
        "HalvingDecay.tensorflow_nmt got an unknown scheme. Expected one of "
        "luong10, luong234, luong5, received 'luong7'. Use 'luong5', the "
        "nearest.",
    ),
    (
        lambda: ks.optimizers.HalvingDecay.nvidia_gnmt(0, 1e-3),
        size("HalvingDecay.nvidia_gnmt", "training_steps", 0),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(1, 5, 6, initial_learning_rate=-1),
        rate("RNMTPlusSchedule", -1),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(0, 5, 6),
        size("RNMTPlusSchedule", "replicas", 0),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(1, 0, 6),
        size("RNMTPlusSchedule", "start", 0),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(1, 5, 6.5),
        size("RNMTPlusSchedule", "end", 6.5),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(1, 5, 6, 0),
        size("RNMTPlusSchedule", "warmup", 0),
    ),
    (
        lambda: ks.optimizers.RNMTPlusSchedule(1, 5, 5),
        "RNMTPlusSchedule got an end that is not after its start. Expected end > "
        "start = 5, received end=5. Count both in batches from the beginning of the "
        "training.",
    ),
    (
        lambda: Silent()(1),
        "Silent does not say its probability. Expected a method "
        "__call__(step), received a class without it. Write one that returns a "
        "number in [0, 1].",
    ),
    (
        lambda: ks.models.ConstantProbability(1.5),
        probability("ConstantProbability", "probability", 1.5),
    ),
    (
        lambda: ks.models.LinearProbability(0),
        "LinearProbability got an unusable slope. Expected a positive number, received "
        "slope=0. Use one over the number of steps in which the probability grows "
        "by 1.",
    ),
    (
        lambda: ks.models.LinearProbability(1, initial=-1),
        probability("LinearProbability", "initial", -1),
    ),
    (
        lambda: ks.models.LinearProbability(1, maximum=2),
        probability("LinearProbability", "maximum", 2),
    ),
    (
        lambda: ks.models.ExponentialProbability(1.0),
        "ExponentialProbability got an unusable k. Expected a number in (0, 1), "
        "received k=1.0. Use e.g. 0.9999: half of the tokens are the model's own after "
        "7000 steps.",
    ),
    (
        lambda: ks.models.InverseSigmoidProbability(0.5),
        "InverseSigmoidProbability got an unusable k. Expected 1 or more, received "
        "k=0.5. Use e.g. 2000: half of the tokens are the model's own after 15000 "
        "steps.",
    ),
    (
        lambda: ks.models.ScheduledSampling(
            "seq2seq", ks.models.ConstantProbability(0.5)
        ),
        "ScheduledSampling got an unusable model. Expected a keras.Model from source "
        "and target ids to logits, received 'seq2seq'. Pass e.g. a Seq2Seq.",
    ),
    (
        lambda: ks.models.ScheduledSampling(stand_in(), 0.25),
        "ScheduledSampling got an unusable probability. Expected a "
        "SamplingProbability, received 0.25. Pass e.g. ConstantProbability(0.25) or "
        "InverseSigmoidProbability(2000).",
    ),
    (
        lambda: scheduled().call({"source": 1}, training=True),
        NO_INPUTS.format(["source"]),
    ),
    (lambda: scheduled().call(np.ones(2), training=True), NO_INPUTS.format("ndarray")),
    (
        lambda: scheduled().call(
            {"source": np.ones((1, 2)), "target": np.ones((1, 2))}, training=True
        ),
        "ScheduledSampling got no optimizer to count its steps. Expected a compiled "
        "model for training=True, received one without an optimizer. Call "
        "scheduled.compile(optimizer, loss) first.",
    ),
    (
        lambda: average([]),
        "average_checkpoints got nothing to average. Expected one path or more, "
        "received none. Check the pattern of the file names.",
    ),
    (
        lambda: average(["none.keras"]),
        "average_checkpoints got paths that do not exist. Expected files, received "
        "['none.keras']. Check the folder; the model is unchanged.",
    ),
    (
        lambda: average([__file__]),
        "average_checkpoints got a file that does not fit the model. Expected weights "
        f"of 'stand_in' in a .weights.h5 or .keras file, received {__file__!r}. Use "
        "checkpoints of this model; the error above says what Keras could not read.",
    ),
    (
        lambda: average(["x"], keras.Sequential([keras.layers.Dense(1)], name="new")),
        "average_checkpoints got a model without weights. Expected a built model, "
        "received 'new' with built=False. Call the model once, to build it.",
    ),
    *metric_errors.TEXTS,
]


def raised(call):
    """The text of the error, and the line of `training` that raised it."""
    kinds = (ValueError, NotImplementedError, ImportError, OSError, ArithmeticError)
    with pytest.raises(kinds) as caught:
        call()
    frames = [
        (Path(frame.filename).name, frame.lineno)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if Path(frame.filename) in FILES
    ]
    return str(caught.value), frames[-1]


@pytest.mark.parametrize("call, expected", ROWS, ids=[row[1][:40] for row in ROWS])
def test_text(call, expected):
    assert raised(call)[0] == expected


def test_every_raise_is_tried():
    tried = {raised(call)[1] for call, _ in ROWS}
    untried = [
        f"{path.name}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and node.exc is not None
        if not any(
            path.name == file and node.lineno <= line <= node.end_lineno
            for file, line in tried
        )
    ]
    assert not untried, f"no row reaches {untried}"
