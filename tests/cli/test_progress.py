"""Bars and lines: when they come, where they go, what a full disk does to a run."""

import errno
import io
import json
import sys
import time
import warnings
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import progress
from keras_seqattn.cli.run_callbacks import RunCheckpoint, SeedPerEpoch, TimeLimit
from keras_seqattn.cli.run_folder import RunFolder
from keras_seqattn.cli.run_states import read_history
from keras_seqattn.files import replacing_folder
from tests.file_size import file_size_limit


@pytest.fixture
def clock(monkeypatch):
    """Advances by what is added to it."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def shown(monkeypatch, clock, seconds, is_terminal=False):
    """What a bar of 10 writes that needs so many seconds for each."""
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.bar("translating", 10) as update:
        for done in range(1, 11):
            clock[0] += seconds
            update(done)
    return stream.getvalue()


def test_what_is_quick_needs_no_bar(monkeypatch, clock):
    assert shown(monkeypatch, clock, 0.1) == ""


def test_lines_in_a_file(monkeypatch, clock):
    lines = shown(monkeypatch, clock, 4.0).splitlines()
    assert [line.rstrip() for line in lines] == [
        "translating: 3 of 10, 0:28 left",
        "translating: 6 of 10, 0:16 left",
        "translating: 9 of 10, 0:04 left",
    ]


def test_plain_terminal(monkeypatch, clock):
    monkeypatch.setattr(progress, "rich", None)
    said = shown(monkeypatch, clock, 1.0, is_terminal=True)
    assert [line.rstrip() for line in said.split("\r")] == [
        *(f"translating: {n} of 10, 0:{10 - n:02} left" for n in range(2, 11)),
        *("", ""),  # wiped out
    ]


def test_rich_terminal(monkeypatch, clock):
    said = shown(monkeypatch, clock, 1.0, is_terminal=True)
    assert "translating" in said and "10/10" in said


def test_working_says_how_long(monkeypatch, clock, capsys):
    with progress.working("exporting"):
        clock[0] += 61.0
    assert capsys.readouterr().err == "exporting: 1:01\n"


def test_time_limit(clock):
    limit = TimeLimit(minutes=2)
    limit.set_model(SimpleNamespace(stop_training=False))
    limit.set_params({"steps": 3})
    limit.on_train_begin()
    clock[0] += 119.0
    limit.on_train_batch_end(0)
    assert not limit.model.stop_training
    clock[0] += 1.0
    limit.on_train_batch_end(1)
    assert limit.model.stop_training and limit.has_cut
    limit.on_train_batch_end(2)  # the last one of the epoch
    assert limit.model.stop_training and not limit.has_cut


# The disk is full ---------------------------------------------------------------------


class Echo:
    """A translator with a model of one weight; saving it may fail."""

    def __init__(self):
        self.model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        self.model.compile("sgd", "mse")
        self.is_full = False

    def translate(self, texts):
        return texts

    def save(self, path):
        if self.is_full:
            raise OSError(errno.ENOSPC, "full")
        path.mkdir(exist_ok=True)
        self.model.save_weights(path / "model.weights.h5")


class FillsUp(keras.callbacks.Callback):
    """The disk is full in the second epoch: weights do not fit, a history does."""

    def __init__(self, echo):
        super().__init__()
        self.echo = echo

    def on_epoch_begin(self, epoch, logs=None):
        self.echo.is_full = epoch == 1
        self.limit = file_size_limit(2_000 if epoch == 1 else -1)
        self.limit.__enter__()

    def on_train_end(self, logs=None):
        self.limit.__exit__(None, None, None)


def test_full_disk_ends_no_training_and_costs_no_state(tmp_path):
    echo, run = Echo(), RunFolder(tmp_path)
    pairs = (["a", "b"], ["a", "c"])
    metric = ks.metrics.TextMetric(
        "rising", lambda *texts: float(echo.model.optimizer.iterations)
    )
    validation = ks.callbacks.Validation(echo, pairs, [metric], folder=run.checkpoints)
    checkpoint = RunCheckpoint(run, echo, validation, TimeLimit(None))
    callbacks = [FillsUp(echo), validation, checkpoint]
    x = np.ones((2, 1), "float32")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RuntimeWarning)
        echo.model.fit(x, x, epochs=2, callbacks=callbacks, verbose=0)
    texts = [str(warning.message) for warning in warned]
    state = run.states.path(2)
    assert (
        f"train could not save its state. Expected to write {str(state)!r}, "
        "received File too large. Make room: the training continues, and what was "
        "saved before is unchanged."
    ) in texts
    assert run.states.epochs() == [1]
    assert (run.translator / "model.weights.h5").exists()
    assert len(run.history.read_text().splitlines()) == 2


class Foreign(Echo):
    """The folder of the translator holds another file."""

    def __init__(self, run):
        super().__init__()
        self.run, self.states = run, []

    def save(self, path):
        self.states.append(self.run.states.epochs())
        with replacing_folder(path, "Translator.save", "translator", ["own"]) as folder:
            self.model.save_weights(f"{folder}/own.weights.h5")


def test_a_foreign_file_ends_no_training_and_costs_no_state(tmp_path):
    run = RunFolder(tmp_path)
    run.translator.mkdir()
    (run.translator / ".DS_Store").write_text("mine")
    echo = Foreign(run)
    metric = ks.metrics.TextMetric(
        "rising", lambda *texts: float(echo.model.optimizer.iterations)
    )
    validation = ks.callbacks.Validation(
        echo, (["a"], ["a"]), [metric], folder=run.checkpoints
    )
    checkpoint = RunCheckpoint(run, echo, validation, TimeLimit(None))
    x = np.ones((2, 1))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RuntimeWarning)
        echo.model.fit(x, x, epochs=2, callbacks=[validation, checkpoint], verbose=0)
    assert {str(w.message) for w in warned if w.category is RuntimeWarning} == {
        "train could not save its translator. Expected to write "
        f"{str(run.translator)!r}, received Translator.save got a path "
        "that holds something else. Expected a free one, an empty folder, or nothing "
        f"but an older translator, received {str(run.translator)!r}. Choose another. "
        "Remove the files that do not belong to the run: the training continues, and "
        "what was saved before is unchanged."
    }
    assert echo.states == [[1], [1, 2]]
    assert len(read_history(run.history)) == 2
    (run.translator / ".DS_Store").unlink()
    checkpoint.finish()
    assert checkpoint.saved is validation.best


def test_history_forgets_what_is_done_again(tmp_path):
    run = RunFolder(tmp_path)
    entries = [{"epoch": n, "step": 10 * n} for n in (1, 2, 3)]
    run.history.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    checkpoint = RunCheckpoint(run, Echo(), None, TimeLimit(None))
    checkpoint._forget_after(20)
    assert [json.loads(x) for x in run.history.read_text().splitlines()] == entries[:2]


def test_history_survives_a_line_half_written(tmp_path):
    run = RunFolder(tmp_path)
    run.history.write_text('{"epoch": 1, "step": 0}\n{"epoch": 2, "st')
    checkpoint = RunCheckpoint(run, Echo(), None, TimeLimit(None))
    checkpoint.set_model(checkpoint.translator.model)
    checkpoint.start = 0.0
    checkpoint._forget_after(0)
    checkpoint._write_history(2, {})  # nothing is added to the half one
    assert [entry["epoch"] for entry in read_history(run.history)] == [1, 2]
    assert run.history.read_text().endswith("}\n")
    run.history.write_text(run.history.read_text() + '{"ep')
    checkpoint._forget_after(0)
    assert [entry["epoch"] for entry in read_history(run.history)] == [1, 2]


# The time is over ---------------------------------------------------------------------


class Late(keras.callbacks.Callback):
    """In some step, a minute has gone by."""

    def __init__(self, limit, step):
        super().__init__()
        self.limit, self.step = limit, step

    def on_train_batch_begin(self, batch, logs=None):
        if int(self.model.optimizer.iterations) + 1 == self.step:
            self.limit.start -= 60.0


@pytest.mark.parametrize("step, epochs", [(3, 1), (4, 2)])
def test_an_epoch_cut_short_is_validated_but_not_done(tmp_path, step, epochs, capsys):
    echo, run, limit = Echo(), RunFolder(tmp_path), TimeLimit(1)
    metric = ks.metrics.TextMetric(
        "rising", lambda *texts: float(echo.model.optimizer.iterations)
    )
    validation = ks.callbacks.Validation(
        echo, (["a"], ["a"]), [metric], folder=run.checkpoints
    )
    checkpoint = RunCheckpoint(run, echo, validation, limit)
    callbacks = [validation, Late(limit, step), limit, checkpoint]
    x = np.ones((4, 1), "float32")
    echo.model.fit(x, x, batch_size=2, epochs=9, callbacks=callbacks, verbose=0)
    assert run.states.last_whole() == epochs
    assert [entry["epoch"] for entry in read_history(run.history)] == [1, 2][:epochs]
    assert validation.best["step"] == step and checkpoint.saved is validation.best
    said = "The time is over. A resumed run repeats this epoch.\n"
    assert (said in capsys.readouterr().err) == (epochs == 1)


class Draws(keras.layers.Layer):
    """Shows the state of its dropout."""

    def __init__(self):
        super().__init__()
        self.dropout = keras.layers.Dropout(0.5, seed=3)

    def call(self, x):
        return self.dropout(x, training=True)


def test_an_epoch_draws_the_same_whatever_was_before_it():
    model = keras.Sequential([keras.Input((8,)), Draws()])
    callback = SeedPerEpoch()
    callback.set_model(model)
    x = np.ones((2, 8), "float32")

    def epoch(n):
        callback.on_epoch_begin(n)
        return [np.array(model(x)).tolist() for _ in range(3)]

    first, second = epoch(0), epoch(1)
    assert first != second and first[0] != first[1]
    assert (epoch(1), epoch(0)) == (second, first)
    assert epoch(5_000) != first
