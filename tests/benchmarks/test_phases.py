"""What is measured beside the catalogue: phases, shortlists, waits, exports."""

import json
import subprocess
import sys
import time
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import exported_forms, phases, shortlisted
from benchmarks.input_wait import STEP, WAIT, profiled
from benchmarks.sizes import Size
from keras_seqattn import zoo


@pytest.mark.system
def test_all_parts_of_a_small_model():
    size = Size(batch=2, source=3, target=4, embedding=4, units=4, vocabulary=8)
    rows, peak = phases.measured(size, rounds=1)
    assert [(row["part"], row["way"]) for row in rows] == [
        (part, way)
        for part in ("encoder", "decoder", "head and loss")
        for way in ("forward", "forward and backward")
    ] + [("Adam", "once")]
    assert peak > 0
    for forward, both in zip(rows[:-1:2], rows[1:-1:2], strict=True):
        assert 0 < 2 * forward["products"] < both["products"]  # for inputs, for weights
    assert rows[-1]["products"] == 0
    assert all(row["graph"] > 0 and row["XLA"] > 0 for row in rows)
    head, *lines = phases.table(rows)
    assert all(len(line) == len(head) for line in lines)


PAIRS = ks.data.Pairs(["ein haus", "ein hund", "das haus"], ["a b", "a c", "d b"])


@pytest.mark.system
def test_with_and_without(monkeypatch):
    keras.utils.set_random_seed(1)
    source, target = map(ks.text.Words.learn, (PAIRS.source, PAIRS.target))
    names, texts = ("source_vocabulary", "target_vocabulary"), (source, target)
    sizes = {n: x.vocabulary_size for n, x in zip(names, texts, strict=True)}
    model, asked = zoo.wang_simple("small", **sizes), []

    def translator(search, shortlist=None):
        asked.append(shortlist and shortlist.size)
        return ks.Translator(model, source, target, search, 4, shortlist=shortlist)

    monkeypatch.setattr(shortlisted.trained, "translator", translator)
    monkeypatch.setattr(shortlisted.trained, "bleu", lambda texts, pairs: len(texts))
    rows = shortlisted.measured(PAIRS, PAIRS, rounds=1, sizes=(6,))
    expected = [(s, size) for s in shortlisted.SEARCHES for size in (None, 6)]
    assert [(row["search"], row["size"]) for row in rows] == expected
    assert asked == [None, *(size for _, size in expected)]
    assert all(row["seconds"] > 0 and row["BLEU"] == len(PAIRS) for row in rows)
    head, first, *lines = shortlisted.table(rows)
    assert first[:2] == ["greedy", "all"] and first[3] == "1.00"
    assert all(len(line) == len(head) for line in lines)


def test_waits_are_seen():
    """A step takes no input that is not there yet."""
    seconds, steps = 0.1, 4

    def slow(batch):
        time.sleep(seconds)
        return batch

    def one(x):
        x = tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (2, 3))
        return x, x

    batches = np.ones((steps, 2, 3), "float32")
    dataset = tf.data.Dataset.from_tensor_slices(batches).map(one)
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    model.fit(dataset, shuffle=False, verbose=0)
    events = profiled(lambda: model.fit(dataset, shuffle=False, verbose=0))
    assert len(events[WAIT]) == len(events[STEP]) == steps
    assert np.median(events[WAIT]) > 0.5 * seconds * 1e3


def test_a_shipped_export():
    """The process that measures an export needs the export alone."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "benchmarks.exported_forms"]
    command.append(root / "saved_models/dates/1")
    texts = json.dumps(["third of May 2027", "24 cze 1695"] * 20)
    how = {"input": texts, "capture_output": True, "text": True, "check": True}
    found = json.loads(subprocess.run(command, cwd=root, **how).stdout)
    assert found["texts"] == ["2027-05-03", "1695-06-24"] * 20
    assert found["load"] > 0
    assert len(found["single"]) == 40 - exported_forms.WARM_UP
