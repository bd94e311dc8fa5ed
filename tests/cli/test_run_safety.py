"""Files of a run do not decide which code runs, and one process writes to a run."""

import concurrent.futures
import contextlib
import errno
import fcntl
import json
import os
import subprocess
import sys
from unittest import mock

import keras
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import run_lock, training
from keras_seqattn.cli.export import run_manifest
from keras_seqattn.cli.model_factory import find_function, make_model
from keras_seqattn.cli.run_folder import RunFolder
from keras_seqattn.cli.run_json import settings_from_dict
from keras_seqattn.zoo import measured
from seqattn_command import main
from tests.cli.runs import change_settings, resume
from tests.cli.tiny import TASK, TINY


@pytest.mark.parametrize("verb", ["resume", "repeat"])
@pytest.mark.parametrize(
    "name", ["os.system", "tests.cli.own_model.tiny", "zoo.measured.main"]
)
def test_a_name_in_a_file_runs_nothing(fails, copied, tmp_path, verb, name):
    marker, new = tmp_path / "it ran", tmp_path / "new"
    command = {"command": f"touch {marker}"}
    change_settings(copied, model=name, preset=None, set=command)
    where = f"--resume {copied}"
    if verb == "repeat":
        where = f"--repeat {copied}/run.json --out {new}"
    path, folder = list(sys.path), os.getcwd()
    fails(
        f"train {where}",
        "train read a model from a file that is not a function of the zoo. Expected a "
        "function of the zoo, a function that is registered with Keras, or a name that "
        f"you type, because a file must not decide which code runs, received {name!r}. "
        f"If you trust this code, add --model {name}.",
    )
    assert not marker.exists() and not new.exists()
    assert sys.path == path and os.getcwd() == folder


def test_an_export_of_a_run_runs_nothing(copied, tmp_path, monkeypatch):
    """It only writes down which function made the model."""
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'it ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    change_settings(copied, model="evil.tiny")
    (copied / "checkpoints/validation.json").unlink()
    translator = ks.Translator.load(copied / "translator")
    found = run_manifest(copied / "translator", translator)
    assert not (tmp_path / "it ran").exists()
    assert found["model"] == {"function": "evil.tiny"}
    assert found["metrics"] is None


def test_a_typed_name_resumes_the_run(copied, monkeypatch):
    own, made = "tests.cli.own_model.tiny", []
    monkeypatch.setattr(training, "train", lambda *how: made.append(how[0]))
    change_settings(copied, model=own, preset=None, set={"units": "6"})
    assert resume(copied, "--epochs", "3") == 2 and not made
    assert resume(copied, "--epochs", "3", "--model", own) == 0
    model = make_model(made[0], 9, 11)
    sides = model.source_embedding, model.target_embedding
    assert [side.input_dim for side in sides] == [9, 11] and model.encoder.units == 6


def test_a_registered_function_may_be_named():
    @keras.saving.register_keras_serializable("mine")
    def registered(source_vocabulary, target_vocabulary):
        raise ValueError("called")

    try:
        assert find_function("mine>registered") is registered
    finally:
        keras.saving.get_custom_objects().pop("mine>registered")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("epoch", 3, "received 'epoch'. Use 'epochs', the nearest. Check the path: "),
        ("set", {"units": {"class_name": "Lambda"}}, "of the setting set. Expected an"),
        ("set", [1], "setting set. Expected an object with strings, numbers or lists"),
        ("optimizer", "os.system", "train got an unknown optimizer. Expected one"),
        ("schedule", "os.system", "the setting schedule. Expected one of constant"),
        ("metric", ["os.system"], "text_metric got an unknown metric. Expected"),
        ("source_text", "os.system", "train got an unknown kind of text. Expected"),
        ("task", "os.system", "seqattn got an unknown task. Expected one of dates"),
        ("epochs", "3", "setting epochs. Expected an integer, received '3'"),
        ("epochs", True, "setting epochs. Expected an integer, received True"),
        ("seed", None, "setting seed. Expected an integer, received None"),
        ("precision", "fp8", "setting precision. Expected one of float32, b"),
    ],
)
def test_settings_of_a_file_are_checked(failing, copied, name, value, says):
    change_settings(copied, **{name: value})
    assert says in failing("train", "--resume", copied)


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (lambda content: content.pop("versions"), " without 'versions'"),
        (lambda content: content.pop("data"), " without 'data'"),
        (lambda content: content["data"].pop("train"), " without 'train'"),
        (lambda content: content.update(data=[]), ": data is list, not dict"),
        (lambda content: content.update(settings=3), ": settings is int, not dict"),
    ],
)
@pytest.mark.parametrize("verb", ["train --resume", "inspect", "evaluate"])
def test_an_incomplete_run_json(fails, trained, tmp_path, change, received, verb):
    content = json.loads((trained / "run.json").read_text())
    change(content)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content))
    fails(
        f"{verb} {tmp_path}",
        "seqattn found no settings of a run. Expected a run.json that seqattn train "
        f"has written, received '{path}'{received}. Check the path: the file is in the "
        "folder named by --out.",
    )


def test_changed_data(fails, copied, tmp_path):
    change_settings(copied, task_options={"train": "61"})
    command = f"train --repeat {copied}/run.json --out {tmp_path / 'new'}"
    fails(command, "train got other data than the run", "60 pairs for train")


def test_changed_settings_of_a_resumed_run_are_kept(copied):
    about = {"command": ["train", "--resume", "x", "--epochs", "3"], "data": {}}
    run = RunFolder(copied, about)
    content = run.content()
    settings = settings_from_dict(content["settings"])
    del content["settings"]["precision"]  # as before this setting existed
    (copied / "run.json").write_text(json.dumps(content))
    run.begin(settings, *run.texts())
    assert "continued" not in run.content()  # it is the same run
    run.begin(settings.with_(epochs=3), *run.texts())
    assert run.content()["continued"] == ["seqattn train --resume x --epochs 3"]
    with pytest.raises(ValueError, match="measured got a run with changed settings"):
        measured.add(copied, "table/name", "what", [])


def test_a_disk_that_cannot_be_written_to(fails, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(tmp_path)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount a file system here")
    try:
        fails(
            ["train", *TASK, *TINY, "--out", tmp_path / "run"],
            "train cannot write in the folder of the run. Expected a folder on a disk "
            f"that can be written to, received '{tmp_path}/run' with the error "
            "'Read-only file system'. Choose another folder, or change its "
            "permissions.",
        )
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_two_trainings_do_not_share_a_folder(fails, copied):
    with run_lock.locked(copied, ["train", "--out", "x y"]):
        for where in (["--resume", copied], [*TASK, *TINY, "--out", copied]):
            fails(
                ["train", *where],
                "train got the folder of a run that another process writes to. "
                f"Expected a run that is not being trained, received '{copied}', held "
                f"by process {os.getpid()} on ",
                "seqattn train --out 'x y'. Wait until it ends, or choose",
            )
        assert main(["inspect", str(copied)]) == 0  # reading is allowed


def test_a_lock_leaves_nothing_and_may_be_missing(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "new"
    with run_lock.locked(folder, []):
        assert [path.name for path in folder.iterdir()] == [run_lock.NAME]
    assert not folder.exists()
    error = OSError(errno.EOPNOTSUPP, "Operation not supported")
    monkeypatch.setattr(fcntl, "flock", mock.Mock(side_effect=error))
    with run_lock.locked(tmp_path, []):
        says = "is on a file system without locks (Operation not supported): make sure"
        assert capsys.readouterr().err.count(says) == 1


def test_one_of_many_gets_the_lock(tmp_path):
    """Whenever the file is made, removed and made again; every open file counts."""
    inside = tmp_path / "run" / "inside"

    def take(_):
        taken = 0
        while taken < 100:
            with contextlib.suppress(ValueError):  # held by another one
                with run_lock.locked(tmp_path / "run", []):
                    inside.mkdir()  # an error if another one is inside
                    inside.rmdir()
                    taken += 1
        return taken

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(take, range(3))) == [100] * 3


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_file(fails, copied, tmp_path, kind):
    """In an untrusted folder: nothing is overwritten, nothing hangs."""
    victim, lock = tmp_path / "victim", copied / run_lock.NAME
    victim.write_text("mine")
    lock.symlink_to(victim) if kind == "link" else os.mkfifo(lock)
    what = "train cannot write in the folder of the run"
    fails(f"train --resume {copied} --epochs 3", what)
    assert victim.read_text() == "mine"
