"""Models in training and a run of the command: what the next step or epoch gives."""

import json

import keras
import numpy as np

from tests.stored.models import INPUTS, LABELS, logits, zoo_model
from tests.stored.project import (
    FusedAdam,
    HalvingDecay,
    LinearProbability,
    Perplexity,
    RNMTPlusSchedule,
    ScheduledSampling,
    SmoothedCrossentropy,
    TokenAccuracy,
    Translator,
    seqattn,
)

COMMAND = (
    "train --task reverse --task-option train=100 validation=20 test=12 lengths=1,4 "
    "symbols=abcde --model luong2015 --preset small --set units=6 embedding=4 layers=1 "
    "dropout=0.1 --batch-size 10 --learning-rate 0.05 --schedule cosine --warmup 2 "
    "--ema 0.5 --average 2 --label-smoothing 0.1 --metric chrf exact_match --beam 2 "
    "--attention 2 --seed 2"
).split()
TEXTS = ["abc", "ed", "a", "dcba", "bbb"]


def compiled():
    """Models by name, each with a schedule, a loss and metrics of the project."""
    metrics = {"weighted_metrics": [TokenAccuracy(), Perplexity()]}
    plain = zoo_model("bahdanau2015")
    rate = RNMTPlusSchedule(2, start=10, end=50, warmup=3, initial_learning_rate=0.01)
    plain.compile(FusedAdam(rate, global_clipnorm=1.0), loss="auto", **metrics)
    scheduled = ScheduledSampling(
        zoo_model("wang_simple"), LinearProbability(0.1, initial=0.5), seed=2
    )
    optimizer = keras.optimizers.SGD(
        HalvingDecay(0.5, start=2, every=1), momentum=0.9, use_ema=True
    )
    scheduled.compile(optimizer, SmoothedCrossentropy(0.1), **metrics)
    return {"fused": plain, "scheduled": scheduled}


def step(model):
    """One step of training; the numbers that `fit` shows."""
    history = model.fit(
        INPUTS,
        LABELS,
        sample_weight=(LABELS != 0).astype("float32"),
        batch_size=len(LABELS),
        shuffle=False,
        verbose=0,
    )
    return {name: float(values[0]) for name, values in history.history.items()}


def third_step(model):
    """Its numbers, the steps that the optimizer counts, and the logits after it."""
    numbers = step(model)
    count = int(model.optimizer.iterations)
    return {"numbers": numbers, "steps": count, "logits": logits(model).tolist()}


def history(run):
    """The entries of a run, without the time and the memory that they took."""
    lines = (run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [json.loads(line) for line in lines]
    return [
        {name: x for name, x in entry.items() if name not in ("seconds", "memory")}
        for entry in kept
    ]


def resumed(run):
    """What a third epoch gives to a run, which is written to."""
    if seqattn(["train", "--resume", str(run), "--epochs", "3"]):
        raise RuntimeError(f"seqattn train --resume {run} has failed")
    translator = Translator.load(run / "translator")
    validation = json.loads((run / "checkpoints/validation.json").read_text())
    return {
        "history": history(run),
        "validation": validation["entries"],
        "texts": translator(TEXTS).texts,
        "scores": np.round(translator(TEXTS).scores, 6).tolist(),
    }
