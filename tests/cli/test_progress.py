"""Bars and lines of progress, the time limit, and what a full disk does to a run."""

import contextlib
import errno
import io
import sys
import time
import warnings

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
from tests.raised import check_message


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def shown(monkeypatch, clock):
    """What a bar of 10 writes that needs so many seconds for each."""

    def shown(seconds, is_terminal=False):
        stream = io.StringIO()
        stream.isatty = lambda: is_terminal
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.bar("translating", 10) as update:
            for done in range(1, 11):
                clock[0] += seconds
                update(done)
        return stream.getvalue()

    return shown


def test_bar_in_a_file_and_in_a_terminal(shown, monkeypatch):
    assert [line.rstrip() for line in shown(4.0).splitlines()] == [
        f"translating: {n} of 10, 0:{40 - 4 * n:02} left" for n in (3, 6, 9)
    ]
    assert shown(0.1) == ""  # it is quick
    text = shown(1.0, is_terminal=True)
    assert "translating" in text and "10/10" in text
    monkeypatch.setattr(progress, "rich", None)
    text = shown(1.0, is_terminal=True)
    assert [line.rstrip() for line in text.split("\r")] == [
        *(f"translating: {n} of 10, 0:{10 - n:02} left" for n in range(2, 11)),
        *("", ""),  # wiped out
    ]


def test_working(clock, capsys):
    with progress.working("exporting"):
        clock[0] += 61.0
    assert capsys.readouterr().err == "exporting: 1:01\n"


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


class Run:
    """The callbacks of a run whose metric rises; its steps take no time."""

    def __init__(self, folder, echo=None, minutes=None):
        self.echo, self.folder = echo or Echo(), RunFolder(folder)
        self.limit = TimeLimit(minutes)
        self.validation = ks.callbacks.Validation(
            *(self.echo, (["a", "b"], ["a", "c"])),
            [ks.metrics.TextMetric("rising", self.step)],
            folder=self.folder.checkpoints,
        )
        saved = self.folder, self.echo, self.validation, self.limit
        self.checkpoint = RunCheckpoint(*saved)

    def step(self, *texts):
        return float(self.echo.model.optimizer.iterations)

    def fit(self, epochs, batches=1, before=(), between=()):
        x = np.ones((2 * batches, 1), "float32")
        callbacks = [*before, self.validation, *between, self.checkpoint]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", RuntimeWarning)
            how = {"epochs": epochs, "callbacks": callbacks, "verbose": 0}
            self.echo.model.fit(x, x, batch_size=2, **how)
        return [str(w.message) for w in warned if w.category is RuntimeWarning]


def fills_up(echo):
    """The disk is full in the second epoch: weights do not fit, a history does."""
    limits = contextlib.ExitStack()

    def begin(epoch, logs=None):
        echo.is_full = epoch == 1
        limits.enter_context(file_size_limit(2_000 if epoch == 1 else -1))

    def end(logs=None):
        limits.close()

    return keras.callbacks.LambdaCallback(on_epoch_begin=begin, on_train_end=end)


def test_a_full_disk_ends_no_training_and_costs_no_state(tmp_path):
    run = Run(tmp_path)
    warned = run.fit(2, before=[fills_up(run.echo)])
    assert (
        "train could not save its state. Expected to write "
        f"{str(run.folder.states.path(2))!r}, received File too large. Make room: the "
        "training continues, and what was saved before is unchanged."
    ) in warned
    assert run.folder.states.epochs() == [1]
    assert (run.folder.translator / "model.weights.h5").exists()
    assert len(read_history(run.folder.history)) == 2


class Foreign(Echo):
    """Its folder holds another file; knows which states were there before it."""

    def __init__(self, folder):
        super().__init__()
        self.states, self.before = RunFolder(folder).states, []

    def save(self, path):
        self.before.append(self.states.epochs())
        with replacing_folder(path, "Translator.save", "translator", ["own"]) as folder:
            self.model.save_weights(f"{folder}/own.weights.h5")


def test_a_foreign_file_ends_no_training_and_costs_no_state(tmp_path):
    run = Run(tmp_path, Foreign(tmp_path))
    run.folder.translator.mkdir()
    foreign = run.folder.translator / ".DS_Store"
    foreign.write_text("mine")
    [message] = {*run.fit(2)}
    check_message(
        message,
        "train could not save its translator. Expected to write "
        f"'{run.folder.translator}', received Translator.save got a path that holds "
        "something else",
        "Remove the files that do not belong to the run: the training continues",
    )
    assert run.echo.before == [[1], [1, 2]]
    assert len(read_history(run.folder.history)) == 2
    foreign.unlink()
    run.checkpoint.finish()
    assert run.checkpoint.saved is run.validation.best


def late(run, step):
    """In some step, a minute has gone by."""

    def begin(batch, logs=None):
        if int(run.echo.model.optimizer.iterations) + 1 == step:
            run.limit.start -= 60.0

    return keras.callbacks.LambdaCallback(on_train_batch_begin=begin)


@pytest.mark.parametrize("step, epochs", [(3, 1), (4, 2)])
def test_an_epoch_cut_short_is_validated_but_not_done(tmp_path, step, epochs, capsys):
    run = Run(tmp_path, minutes=1)
    run.fit(9, batches=2, between=[late(run, step), run.limit])
    assert run.folder.states.last_whole() == epochs
    done = [entry["epoch"] for entry in read_history(run.folder.history)]
    assert done == [1, 2][:epochs]
    assert run.validation.best["step"] == step
    assert run.checkpoint.saved is run.validation.best
    message = "The time is over. A resumed run repeats this epoch.\n"
    assert (message in capsys.readouterr().err) == (epochs == 1)


def test_an_epoch_draws_the_same_whatever_was_before_it():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dropout(0.5, seed=3)])
    callback = SeedPerEpoch()
    callback.set_model(model)
    x = np.ones((2, 8), "float32")

    def epoch(n):
        callback.on_epoch_begin(n)
        return [np.array(model(x, training=True)).tolist() for _ in range(3)]

    first, second = epoch(0), epoch(1)
    assert first != second and first[0] != first[1]
    assert (epoch(1), epoch(0)) == (second, first)
    assert epoch(5_000) != first
