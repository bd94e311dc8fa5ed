"""No run ends well that did not, and no file of a run decides which code runs."""

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys

import keras
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import run_lock
from keras_seqattn.cli.run_folder import RunFolder
from seqattn_command import main
from tests.cli.test_train import ROOT, assert_same_weights, history
from tests.cli.tiny import TASK, TINY
from tests.file_size import file_size_limit

OPTIONS = ["train", *TASK, *TINY, "--epochs", "3"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three epochs without an interruption; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert main([*OPTIONS, "--out", str(folder)]) == 0
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def resume(folder, *more):
    return main(["train", "--resume", str(folder), *more])


def assert_same_run(one, other):
    assert history(one) == history(other)
    assert_same_weights(one, other)
    records = [(x / "checkpoints/validation.json").read_text() for x in (one, other)]
    assert records[0] == records[1]


def with_settings(folder, **values):
    """Somebody has changed the settings in `run.json`."""
    path = folder / "run.json"
    content = json.loads(path.read_text())
    content["settings"].update(values)
    path.write_text(json.dumps(content))
    return path


# Names in files -----------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["resume", "repeat"])
@pytest.mark.parametrize(
    "name", ["os.system", "tests.cli.own_model.tiny", "zoo.measured.main"]
)
def test_a_name_in_a_file_runs_nothing(failing, copied, tmp_path, verb, name):
    marker = tmp_path / "it ran"
    with_settings(copied, model=name, preset=None, set={"command": f"touch {marker}"})
    where = ["--resume", copied]
    if verb == "repeat":
        where = ["--repeat", copied / "run.json", "--out", tmp_path / "new"]
    path, folder = list(sys.path), os.getcwd()
    assert failing("train", *where) == (
        "train read a model from a file that is not a function of the zoo. Expected a "
        "function of the zoo, a function that is registered with Keras, or a name that "
        f"you type, because a file must not decide which code runs, received {name!r}. "
        f"If you trust this code, add --model {name}."
    )
    assert not marker.exists() and not (tmp_path / "new").exists()
    assert sys.path == path and os.getcwd() == folder


def test_an_export_of_a_run_runs_nothing(copied, tmp_path):
    """It only wants to write down which function made the model."""
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'it ran')!r}, 'w')")
    with_settings(copied, model="evil.tiny")
    process = subprocess.run(
        [sys.executable, "-m", "seqattn_command", "export", copied, tmp_path / "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert not (tmp_path / "it ran").exists()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["model"]["function"] == "evil.tiny"
    assert manifest["model"]["arguments"] is None


def test_the_same_name_typed_goes_on(tmp_path):
    """What the error says: type it."""
    out = str(tmp_path / "own")
    own = ["--model", "tests.cli.own_model.tiny"]
    options = ["train", *TASK, *own, "--epochs", "1", "--batch-size", "20"]
    assert main([*options, "--out", out]) == 0
    assert main(["train", "--resume", out, "--epochs", "2"]) == 2
    assert main(["train", "--resume", out, "--epochs", "2", *own]) == 0
    assert len(history(tmp_path / "own")) == 2


def test_what_is_registered_may_be_named(copied):
    @keras.saving.register_keras_serializable("mine")
    def registered(source_vocabulary, target_vocabulary):
        raise ValueError("called")

    from keras_seqattn.cli.model_factory import find_function

    try:
        assert find_function("mine>registered") is registered
    finally:
        keras.saving.get_custom_objects().pop("mine>registered")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"set": {"units": {"class_name": "Lambda"}}},
            "of the setting set. Expected an",
        ),
        ({"optimizer": "os.system"}, "train got an unknown optimizer. Expected one"),
        (
            {"schedule": "os.system"},
            "the setting schedule. Expected one of constant",
        ),
        (
            {"metric": ["os.system"]},
            "text_metric got an unknown metric. Expected",
        ),
        (
            {"source_text": "os.system"},
            "train got an unknown kind of text. Expected",
        ),
        ({"task": "os.system"}, "seqattn got an unknown task. Expected one of dates"),
        ({"epochs": "3"}, "of the setting epochs. Expected an integer, received '3'"),
        ({"epochs": True}, "the setting epochs. Expected an integer, received True"),
        ({"seed": None}, "of the setting seed. Expected an integer, received None"),
        ({"precision": "fp8"}, "of the setting precision. Expected one of float32, b"),
        ({"set": [1]}, "of the setting set. Expected an object with strings, numbers"),
    ],
)
def test_settings_of_a_file_are_checked(failing, copied, values, said):
    with_settings(copied, **values)
    assert said in failing("train", "--resume", copied)


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (lambda content: content.pop("versions"), "without 'versions'"),
        (lambda content: content.pop("data"), "without 'data'"),
        (lambda content: content["data"].pop("train"), "without 'train'"),
        (lambda content: content.update(data=[]), ": data is list, not dict"),
        (lambda content: content.update(settings=3), ": settings is int, not dict"),
    ],
)
@pytest.mark.parametrize("verb", [["train", "--resume"], ["inspect"], ["evaluate"]])
def test_a_run_json_that_lacks_something(failing, copied, change, received, verb):
    path = copied / "run.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    assert failing(*verb, copied) == (
        "seqattn found no settings of a run. Expected a run.json that seqattn train "
        f"has written, received {str(path)!r}{' ' * (received[0] == 'w')}{received}. "
        "Check the path: the file is in the folder named by --out."
    )


@pytest.mark.parametrize("text", ["1\n", "{}\n", '"x"\n', "[[]]\n", '{"epoch": {}}\n'])
def test_lines_of_the_history_that_are_no_entries(copied, capsys, text):
    path = copied / "history.jsonl"
    entries = history(copied)
    path.write_text(text + path.read_text())
    assert main(["inspect", str(copied)]) == 0
    assert resume(copied, "--epochs", "3") == 0
    assert history(copied)[:2] == entries


# What could not be saved --------------------------------------------------------------


@pytest.mark.parametrize("epoch", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_state_that_could_not_be_saved_is_an_error(
    whole, tmp_path, monkeypatch, capsys, epoch
):
    from keras_seqattn.cli.run_callbacks import SeedPerEpoch

    folder, begin = tmp_path / "run", SeedPerEpoch.on_epoch_begin
    with monkeypatch.context() as patched, contextlib.ExitStack() as full:

        def on_epoch_begin(self, number, logs=None):
            if number + 1 == epoch:
                full.enter_context(file_size_limit(20_000))
            begin(self, number, logs)

        patched.setattr(SeedPerEpoch, "on_epoch_begin", on_epoch_begin)
        assert main([*OPTIONS, "--out", str(folder)]) == 1
    said = capsys.readouterr().err
    assert (
        "seqattn: error: train could not save the whole run. Expected its state, "
        "history and translator on the disk, received state: File too large"
    ) in said
    assert f"Free disk space, then call seqattn train --resume {folder}." in said
    assert resume(folder) == 0
    assert_same_run(folder, whole)


def test_a_disk_that_cannot_be_written_to(failing, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(tmp_path)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount a file system here")
    try:
        said = failing(*OPTIONS, "--out", tmp_path / "run")
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert said == (
        "train cannot write in the folder of the run. Expected a folder on a disk that "
        f"can be written to, received '{tmp_path}/run' with the error 'Read-only file "
        "system'. Choose another folder, or change its permissions."
    )


# One process at a time ----------------------------------------------------------------

HOLD = """
import sys, time
from keras_seqattn.cli.run_lock import locked
with locked(sys.argv[1], ["train", "--out", "x y"]):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture
def held(copied):
    """The folder of a run in which another process trains."""
    command = [sys.executable, "-c", HOLD, str(copied)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            yield copied, process
        finally:
            process.kill()


def test_two_trainings_do_not_share_a_folder(failing, held):
    folder, process = held
    for where in (["--resume", folder], [*TASK, *TINY, "--out", folder]):
        said = failing("train", *where)
        assert said.startswith(
            "train got the folder of a run that another process writes to. Expected a "
            f"run that is not being trained, received {str(folder)!r}, held by process "
            f"{process.pid} on "
        )
        assert "seqattn train --out 'x y'. Wait until it ends, or choose" in said
    assert main(["inspect", str(folder)]) == 0  # looking is allowed


def test_a_crash_frees_the_lock(held):
    folder, process = held
    process.kill()
    process.wait()
    assert (folder / run_lock.NAME).exists()
    assert resume(folder, "--epochs", "3") == 0
    assert not (folder / run_lock.NAME).exists()


def test_a_file_system_without_locks(copied, monkeypatch, capsys):
    import errno
    import fcntl

    def flock(file, operation):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert resume(copied, "--epochs", "3") == 0
    said = "is on a file system without locks (Operation not supported): make sure"
    assert capsys.readouterr().err.count(said) == 1


def test_a_lock_leaves_nothing(tmp_path):
    with run_lock.locked(tmp_path / "new", []):
        assert names(tmp_path / "new") == [run_lock.NAME]
    assert names(tmp_path) == []


def test_of_many_processes_one_gets_the_lock(tmp_path):
    """Whenever the file is made, removed and made again."""
    program = """
import os, sys, time
from keras_seqattn.cli.run_lock import locked
folder, end = sys.argv[1], time.monotonic() + 2
taken = 0
while time.monotonic() < end:
    try:
        with locked(folder, []):
            os.mkdir(folder + "/inside")  # an error if another process is inside
            taken += 1
            os.rmdir(folder + "/inside")
    except ValueError:
        pass
    except FileExistsError:
        sys.exit(3)
print(taken)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "run")]
    found = [
        subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) for _ in range(3)
    ]
    taken = [int(process.communicate()[0] or -1) for process in found]
    assert [process.returncode for process in found] == [0, 0, 0]
    assert sum(taken) > 100


# Damaged files ------------------------------------------------------------------------


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:2000])


@pytest.mark.parametrize("damage", [flip, pytest.param(cut, marks=pytest.mark.slow)])
def test_a_damaged_state_is_not_taken(whole, copied, capsys, damage):
    """The one before is, and the run ends as if nothing had been."""
    state = copied / "checkpoints" / "state-2.weights.h5"
    damage(state)
    assert resume(copied, "--epochs", "3") == 0
    assert (
        f"{state} is damaged: its content is not what was written. The run "
        "continues from epoch 1.\n"
    ) in capsys.readouterr().err
    assert_same_run(copied, whole)


def test_a_cut_state_without_a_checksum(whole, copied):
    """As earlier versions wrote it."""
    for path in (copied / "checkpoints").glob("*.sha256"):
        path.unlink()
    cut(copied / "checkpoints" / "state-2.weights.h5")
    assert resume(copied, "--epochs", "3") == 0
    assert_same_run(copied, whole)


def test_no_whole_state(failing, copied):
    paths = [copied / "checkpoints" / f"state-{n}.weights.h5" for n in (1, 2)]
    for path in paths:
        flip(path)
    said = failing("train", "--resume", copied, "--epochs", "3")
    assert said == (
        "train found no undamaged state to continue from. Expected a file with the "
        f"content of its checksum, received {paths[1]} and {paths[0]}, damaged. "
        "Restore the files, or start a new run with --repeat and its run.json."
    )


def test_the_best_is_checked_before_the_training(failing, copied):
    best = copied / "checkpoints" / "best.weights.h5"
    flip(best)
    said = failing("train", "--resume", copied, "--epochs", "3")
    assert said.startswith("Validation got damaged best weights.") and str(best) in said
    assert len(history(copied)) == 2


def test_strange_names_among_the_states(copied):
    for name in ("state-x.weights.h5", "last-x.weights.h5", "state-9.weights.h5.bak"):
        (copied / "checkpoints" / name).write_text("?")
    assert resume(copied, "--epochs", "3") == 0


# What a kill leaves behind ------------------------------------------------------------


@pytest.mark.parametrize("by", ["today", "earlier versions"])
def test_killed_while_it_began(whole, tmp_path, by):
    """Between `run.json` and `text/`, in either order."""
    folder = tmp_path / "run"
    folder.mkdir()
    if by == "today":
        shutil.copy(whole / "run.json", folder)
        (folder / ".text-abcdefgh").mkdir()
        assert resume(folder) == 0
    else:
        shutil.copytree(whole / "text", folder / "text")
        assert main([*OPTIONS, "--out", str(folder)]) == 0
    assert_same_run(folder, whole)
    assert names(folder) == names(whole)


def test_texts_that_are_missing_later(failing, copied):
    shutil.rmtree(copied / "text")
    assert failing("train", "--resume", copied) == (
        "train found a run without its text processors. Expected "
        f"'{copied}/text', which the run began with, received no such folder. "
        "Restore the folder, or start a new run with --repeat and its run.json."
    )


MOMENTS = (
    "ValidationFolder.save_best",
    "ValidationFolder.save_record",
    "RunCheckpoint._write_history",
    "RunCheckpoint._save_state",
    "RunCheckpoint._save_translator",
)
OFTEN = (
    ("before", "RunCheckpoint._save_state"),  # its validation counted twice
    ("after", "RunCheckpoint._save_state"),  # its history was missing
)


@pytest.mark.parametrize(
    ("when", "moment"),
    [
        *OFTEN,
        *(
            pytest.param(when, moment, marks=pytest.mark.slow)
            for moment in MOMENTS
            for when in ("before", "after")
            if (when, moment) not in OFTEN
        ),
    ],
)
def test_killed_at_the_end_of_an_epoch(tmp_path, moment, when, patient):
    """In the second one."""
    folder = tmp_path / "run"
    command = [sys.executable, "-c", KILLED, moment, when, *PATIENT, "--out", folder]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == -9, process.stderr
    assert resume(folder) == 0
    assert_same_run(folder, patient)
    assert names(folder) == names(patient)
    assert names(folder / "checkpoints") == names(patient / "checkpoints")


KILLED = """
import importlib, os, signal, sys
moment, when, *command = sys.argv[1:]
owner, method = moment.split(".")
modules = {
    "ValidationFolder": "callbacks.validation_folder",
    "RunCheckpoint": "cli.run_callbacks",
}
cls = getattr(importlib.import_module(f"keras_seqattn.{modules[owner]}"), owner)
usual, calls = getattr(cls, method), []

def killed(self, *args):
    calls.append(1)
    if len(calls) == 2 and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    found = usual(self, *args)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

setattr(cls, method, killed)
from seqattn_command import main
sys.exit(main(command))
"""
# The metric rises in the first epochs, and patience ends the run.
PATIENT = ["train", *TASK, *TINY, "--epochs", "9", "--patience", "2", "--average", "2"]
PATIENT += ["--metric", "chrf"]


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "patient"
    assert main([*PATIENT, "--out", str(folder)]) == 0
    return folder


def test_a_run_whose_patience_has_ended_stays_ended(patient, tmp_path, capsys):
    """Killed after the last state: the next start does not train once more."""
    folder = shutil.copytree(patient, tmp_path / "run")
    shutil.rmtree(folder / "translator")
    assert resume(folder) == 0
    assert_same_run(folder, patient)


def test_leftovers_are_removed(copied):
    for name in (".translator-abcdefgh", ".text-ab_d3fgh"):
        (copied / name).mkdir()
    (copied / ".unfinished-7-run.json").write_text("{")
    (copied / "checkpoints" / ".unfinished-7-state-3.weights.h5").write_text("x")
    (copied / "translator").rename(copied / ".translator-abcdefgx-old")
    assert resume(copied, "--epochs", "3") == 0
    assert not [path for path in copied.rglob(".*")]


def test_a_folder_of_somebody_else_stays_as_it_is(failing, tmp_path):
    """Its names only look like those that a run leaves."""
    (tmp_path / ".text-notes").mkdir()
    (tmp_path / ".text-abcdefgh").mkdir()
    (tmp_path / ".unfinished-3-x").mkdir()
    for name in ("book.txt", "model.bin.sha256", ".unfinished-7-book", ".text-x"):
        (tmp_path / name).write_text(name)
    before = sorted(tmp_path.rglob("*"))
    said = failing(*OPTIONS, "--out", tmp_path)
    assert said.startswith("train got a path that holds other files.")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_file(failing, copied, tmp_path, kind):
    """In an untrusted folder: nothing is overwritten, nothing hangs."""
    victim, lock = tmp_path / "victim", copied / run_lock.NAME
    victim.write_text("mine")
    lock.symlink_to(victim) if kind == "link" else os.mkfifo(lock)
    said = failing("train", "--resume", copied, "--epochs", "3")
    assert said.startswith("train cannot write in the folder of the run. Expected")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "has_checksum"),
    [
        ("state-2", True),
        ("best", False),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in [("state-2", False), ("best", True), ("state-1", False)]
        ),
        pytest.param("last-6", False, marks=pytest.mark.slow),
    ],
)
def test_weights_that_are_a_pipe(copied, name, has_checksum, capsys):
    """HDF5 would wait without end."""
    path = copied / "checkpoints" / f"{name}.weights.h5"
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    if not has_checksum:
        path.with_name(f"{path.name}.sha256").unlink(missing_ok=True)
    code = resume(copied, "--epochs", "3")
    assert code == (2 if name == "best" else 0)
    assert ("is damaged" in capsys.readouterr().err) == (name == "state-2")


def test_weights_of_a_pipe_are_not_averaged(tmp_path):
    os.mkfifo(tmp_path / "a.weights.h5")
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="got a file that does not fit the model"):
        ks.models.average_checkpoints(model, [tmp_path / "a.weights.h5"])


def test_a_record_that_could_not_be_written_is_an_error(tmp_path, monkeypatch, capsys):
    from keras_seqattn.callbacks.validation_record import ValidationRecord

    def write(record, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ValidationRecord, "write", write)
    options = ["train", *TASK, *TINY, "--epochs", "1", "--out", str(tmp_path / "run")]
    assert main(options) == 1
    assert (
        "received record: No space left on device. The files" in capsys.readouterr().err
    )


# A loss that explodes -----------------------------------------------------------------

EXPLODES = ["train", *TASK, *TINY, "--clip-norm", "0", "--optimizer", "sgd"]
EXPLODES += ["--learning-rate", "1e6", "--epochs", "3"]


def test_a_run_that_diverges_fails(tmp_path, capsys):
    folder = tmp_path / "run"
    assert main([*EXPLODES, "--out", str(folder)]) == 1
    said = capsys.readouterr().err
    assert "seqattn: error: The loss has diverged. Expected finite weights and" in said
    assert "of epoch 1" in said
    assert "failed before the first translator was saved" in said
    assert not (folder / "translator").exists()
    assert RunFolder(folder).states.epochs() == []
    skip = ["--on-divergence", "skip", "--epochs", "30", "--out", f"{folder}2"]
    assert main([*EXPLODES, *skip]) == 1
    assert "error: The loss has diverged. Expected" in capsys.readouterr().err


def test_divergence_may_be_ignored(tmp_path):
    options = [*EXPLODES, "--on-divergence", "ignore", "--epochs", "1"]
    assert main([*options, "--out", str(tmp_path / "run")]) == 0
