"""Damaged, unsaved and killed runs: resumed, they end as if nothing had happened."""

import errno
import functools
import itertools
import os
import shutil
from types import SimpleNamespace
from unittest import mock

import keras
import pytest

import keras_seqattn as ks
from keras_seqattn.callbacks.validation_folder import ValidationFolder
from keras_seqattn.callbacks.validation_record import ValidationRecord
from keras_seqattn.cli import run_lock
from keras_seqattn.cli.run_callbacks import RunCheckpoint
from keras_seqattn.cli.run_folder import RunFolder
from seqattn_command import main
from tests.cli.runs import assert_same_run, flip, resume
from tests.cli.tiny import TASK, TINY
from tests.file_size import file_size_limit
from tests.raised import check_error, check_message
from tests.trials.fingerprints import leftovers

OPTIONS = ["train", *TASK, *TINY, "--epochs", "3"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert main([*OPTIONS, "--out", str(folder)]) == 0
    return folder


def test_an_unsaved_state_is_an_error(whole, copied, monkeypatch, capsys):
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patched, file_size_limit(20_000):
        patched.setattr(ValidationRecord, "write", mock.Mock(side_effect=full))
        assert resume(copied, "--epochs", "3") == 1
    says = capsys.readouterr().err.rpartition("seqattn: error: ")[2]
    check_message(
        says.splitlines()[0],
        "train could not save the whole run. Expected its state, history and "
        "translator on the disk, received state: File too large; ",
        "record: No space left on device. The files",
        f"Free disk space, then call seqattn train --resume {copied}.",
    )
    assert resume(copied) == 0
    assert_same_run(copied, whole)


def cut(path):
    path.write_bytes(path.read_bytes()[:2000])


def pipe(path):
    """HDF5 would wait for it without end."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def small_model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd")
    return model


@pytest.mark.parametrize(
    ("damage", "has_checksum"),
    [(flip, True), (cut, True), (pipe, True), (cut, False), (pipe, False)],
)
def test_damaged_states(copied, capsys, damage, has_checksum):
    """Also of earlier versions, which wrote no checksums."""
    states = RunFolder(copied).states
    if not has_checksum:
        for path in states.folder.glob("*.sha256"):
            path.unlink()
    damage(states.path(2))
    assert states.last_whole() == 1
    assert capsys.readouterr().err == (
        f"{states.path(2)} is damaged: its content is not what was written. The run "
        "continues from epoch 1.\n"
    )
    states.save(small_model(), 3)
    assert states.epochs() == [2, 3]


def test_no_whole_state(fails, copied):
    first, second = (copied / f"checkpoints/state-{n}.weights.h5" for n in (1, 2))
    flip(first)
    flip(second)
    fails(
        f"train --resume {copied} --epochs 3",
        "train found no undamaged state to continue from. Expected a file with the "
        f"content of its checksum, received {second} and {first}, damaged. "
        "Restore the files, or start a new run with --repeat and its run.json.",
    )


def test_the_best_weights_may_not_be_a_pipe(copied):
    """Other damage: tests/errors/metrics.py."""
    folder = ValidationFolder(copied / "checkpoints", None, 0)
    pipe(folder.best_path)
    record = SimpleNamespace(read=lambda path: None, best={"step": 3})
    read = functools.partial(folder.resume, record, 6)
    check_error(read, "load_weights cannot read ", str(folder.best_path))


def test_the_error_that_ended_a_training_is_the_message(fails, copied):
    """Not the later one, from saving the best weights at its end."""
    (copied / "checkpoints" / "best.weights.h5").unlink()
    resume = f"train --resume {copied} --epochs 3"
    fails(resume, "Validation got a folder without its best weights")
    assert len(read_lines(copied)) == 2


def test_weights_of_a_pipe_are_not_averaged(tmp_path):
    path = tmp_path / "a.weights.h5"
    pipe(path)
    what = "average_checkpoints got a file that does not fit the model"
    check_error(lambda: ks.models.average_checkpoints(small_model(), [path]), what)


def test_a_damaged_state_and_strange_files_in_a_run(whole, copied, capsys):
    """Lines that are no entries, leftovers of kills, names that look like states."""
    flip(copied / "checkpoints/state-2.weights.h5")
    lines = ["1", "{}", '"x"', "[[]]", '{"epoch": {}}', *read_lines(copied)]
    (copied / "history.jsonl").write_text("\n".join(lines) + '\n{"epoch": 3, "st')
    checkpoints = copied / "checkpoints"
    names = ("state-x.weights.h5", "last-x.weights.h5", "state-9.weights.h5.bak")
    strange = [checkpoints / name for name in names]
    for path in strange:
        path.write_text("?")
    pipe(checkpoints / "last-3.weights.h5")
    (copied / run_lock.NAME).write_text("process 7 on another machine")
    for name in (".translator-abcdefgh", ".text-ab_d3fgh"):
        (copied / name).mkdir()
    (copied / ".unfinished-7-run.json").write_text("{")
    (checkpoints / ".unfinished-7-state-3.weights.h5").write_text("x")
    (copied / "translator").rename(copied / ".translator-abcdefgx-old")
    assert main(["inspect", str(copied)]) == 0
    capsys.readouterr()
    assert resume(copied, "--epochs", "3") == 0
    says = capsys.readouterr().err
    assert "The run continues from epoch 1.\n" in says
    assert "holds the best translator, exact_match" in says
    assert not leftovers(copied)
    for path in [*strange, checkpoints / "last-3.weights.h5"]:
        path.unlink()
    assert_same_run(copied, whole)


def read_lines(folder):
    return (folder / "history.jsonl").read_text().splitlines()


def test_a_kill_before_the_first_epoch(trained, tmp_path):
    """Between `run.json` and `text/`; earlier versions wrote `text/` first."""
    run, settings = RunFolder(tmp_path), RunFolder(trained).settings()
    shutil.copytree(trained / "text", tmp_path / "text")
    run.repair()
    assert not list(tmp_path.iterdir())
    run.check_free(settings)
    shutil.copy(trained / "run.json", tmp_path)
    (tmp_path / ".text-abcdefgh").mkdir()
    run.repair()
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert run.texts() is None and run.states.last_whole() == 0


@pytest.mark.slow
def test_a_run_without_an_epoch_is_resumed(whole, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(whole / "run.json", folder)
    assert resume(folder) == 0
    assert_same_run(folder, whole)


def test_missing_texts(fails, copied):
    shutil.rmtree(copied / "text")
    what, folder = "train found a run without its text processors", f"'{copied}/text'"
    fails(f"train --resume {copied}", what, f"{folder}, which the run began with")


MOMENTS = {"save_best": ValidationFolder, "save_record": ValidationFolder}
SAVES = ("_write_history", "_save_state", "_save_translator")
MOMENTS |= dict.fromkeys(SAVES, RunCheckpoint)
# The metric rises in the first epochs, and patience ends the run.
PATIENT = "--epochs 9 --patience 2 --average 2 --metric chrf".split()


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Folders: a run, and what kills in its second epoch would have left of it."""
    parent = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        for method, owner in MOMENTS.items():
            patched.setattr(owner, method, copying(getattr(owner, method), parent))
        command = ["train", *TASK, *TINY, *PATIENT, "--out", f"{parent}/whole"]
        assert main(command) == 0
    return parent


def copying(method, parent):
    calls = itertools.count(1)

    @functools.wraps(method)
    def called(*args):
        number = next(calls)
        for when in ("before", "after"):
            if when == "after":
                found = method(*args)
            if number == 2:
                shutil.copytree(parent / "whole", parent / f"{when} {method.__name__}")
        return found

    return called


# By default only around the state: each epoch and validation counts once.
METHODS = [
    pytest.param(method, marks=() if method == "_save_state" else pytest.mark.slow)
    for method in MOMENTS
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_the_end_of_an_epoch(killed, when, method, tmp_path):
    folder = shutil.copytree(killed / f"{when} {method}", tmp_path / "run")
    assert resume(folder) == 0
    assert_same_run(folder, killed / "whole")
    assert not leftovers(folder)


def test_a_run_that_patience_has_ended_stays_ended(killed, tmp_path):
    """Killed after the last state: the next start trains no further epoch."""
    folder = shutil.copytree(killed / "whole", tmp_path / "run")
    shutil.rmtree(folder / "translator")
    assert resume(folder) == 0
    assert_same_run(folder, killed / "whole")


def test_a_folder_of_somebody_else_stays_as_it_is(fails, tmp_path):
    """Its names only look like those that a run leaves."""
    for name in (".text-notes", ".text-abcdefgh", ".unfinished-3-x"):
        (tmp_path / name).mkdir()
    for name in ("book.txt", "model.bin.sha256", ".unfinished-7-book", ".text-x"):
        (tmp_path / name).write_text(name)
    before = sorted(tmp_path.rglob("*"))
    fails([*OPTIONS, "--out", tmp_path], "train got a path that holds other files")
    assert sorted(tmp_path.rglob("*")) == before


EXPLODES = ["train", *TASK, *TINY, *"--clip-norm 0 --optimizer sgd".split()]
EXPLODES += "--learning-rate 1e6 --epochs 3".split()


def test_a_run_that_diverges_fails(tmp_path, capsys):
    folder = tmp_path / "run"
    assert main([*EXPLODES, "--out", str(folder)]) == 1
    says = capsys.readouterr().err
    assert "seqattn: error: The loss has diverged. Expected finite weights and" in says
    assert "of epoch 1" in says and "before the first translator was saved" in says
    assert not (folder / "translator").exists()
    assert RunFolder(folder).states.epochs() == []


@pytest.mark.parametrize(("action", "guards"), [("skip", ["skip"]), ("ignore", [])])
def test_divergence_may_be_skipped_or_ignored(tmp_path, monkeypatch, action, guards):
    used, guard = [], ks.callbacks.DivergenceGuard

    def fit(model, dataset, callbacks, **options):
        for each in callbacks:
            each.set_model(model)
        used.extend(each.action for each in callbacks if isinstance(each, guard))

    monkeypatch.setattr(ks.Seq2Seq, "fit", fit)
    command = [*EXPLODES, "--on-divergence", action, "--out", str(tmp_path / "run")]
    assert main(command) == 0
    assert used == guards
