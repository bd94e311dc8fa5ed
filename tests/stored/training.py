"""Models in training and a run of the command: what the next step or epoch gives."""

import json

import keras
import numpy as np

from tests.stored import project as ks
from tests.stored.models import INPUTS, LABELS, logits, zoo_model
from tests.trials.fingerprints import history

COMMAND = (
    "train --task reverse --task-option train=100 validation=20 test=12 lengths=1,4 "
    "symbols=abcde --model luong2015 --preset small --set units=6 embedding=4 layers=1 "
    "dropout=0.1 --batch-size 10 --learning-rate 0.05 --schedule cosine --warmup 2 "
    "--ema 0.5 --average 2 --label-smoothing 0.1 --metric chrf exact_match --beam 2 "
    "--attention 2 --seed 2"
).split()
TEXTS = ["abc", "ed", "a", "dcba", "bbb"]


def compiled():
    """Models by name, each with a schedule, a loss and metrics of the ks."""
    metrics = {"weighted_metrics": [ks.TokenAccuracy(), ks.Perplexity()]}
    plain = zoo_model("bahdanau2015")
    steps = {"start": 10, "end": 50, "warmup": 3}
    rate = ks.RNMTPlusSchedule(2, **steps, initial_learning_rate=0.01)
    plain.compile(ks.FusedAdam(rate, global_clipnorm=1.0), loss="auto", **metrics)
    own = ks.LinearProbability(0.1, initial=0.5)
    scheduled = ks.ScheduledSampling(zoo_model("wang_simple"), own, seed=2)
    rate = ks.HalvingDecay(0.5, start=2, every=1)
    optimizer = keras.optimizers.SGD(rate, momentum=0.9, use_ema=True)
    scheduled.compile(optimizer, ks.SmoothedCrossentropy(0.1), **metrics)
    return {"fused": plain, "scheduled": scheduled}


def step(model):
    weights = (LABELS != 0).astype("float32")
    how = {"batch_size": len(LABELS), "shuffle": False, "verbose": 0}
    history = model.fit(INPUTS, LABELS, sample_weight=weights, **how)
    return {name: float(values[0]) for name, values in history.history.items()}


def third_step(model):
    """Its numbers, the steps that the optimizer counts, and the logits after it."""
    numbers = step(model)
    count = int(model.optimizer.iterations)
    return {"numbers": numbers, "steps": count, "logits": logits(model).tolist()}


def resumed(run):
    """What a third epoch gives to a run, which is written to."""
    if ks.seqattn(["train", "--resume", str(run), "--epochs", "3"]):
        raise RuntimeError(f"seqattn train --resume {run} has failed")
    translator = ks.Translator.load(run / "translator")
    validation = json.loads((run / "checkpoints/validation.json").read_text())
    return {
        "history": history(run),
        "validation": validation["entries"],
        "texts": translator(TEXTS).texts,
        "scores": np.round(translator(TEXTS).scores, 6).tolist(),
    }
