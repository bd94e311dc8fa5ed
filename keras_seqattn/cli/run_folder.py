"""The folder of a training run: what is in it, and whose it is."""

import json
import shlex
import shutil
from pathlib import Path

from keras_seqattn.callbacks.validation_record import read_entries
from keras_seqattn.cli.machine import machine
from keras_seqattn.cli.run_json import read_run, versions
from keras_seqattn.cli.run_lock import NAME as LOCK
from keras_seqattn.cli.run_lock import locked
from keras_seqattn.cli.run_states import RunStates
from keras_seqattn.cli.settings import Settings
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import leftovers, repair, replacing, replacing_folder
from keras_seqattn.text.processor import TextProcessor

FREE = ("epochs", "minutes", "patience", "on_divergence")  # a resumed run may change
_SIDES = ("source", "target")
_FOLDERS = ("text", "translator")  # that are written as a whole


class RunFolder:
    """`run.json`, `text/`, `translator/`, `checkpoints/`, `logs/`, `history.jsonl`.

    Args:
        path: of the folder.
        about: `{"command": list of str, "data": fingerprints}`, for a new run.
    """

    def __init__(self, path, about=None):
        self.path, self.about = Path(path), about
        self.translator = self.path / "translator"
        self.checkpoints = self.path / "checkpoints"
        self.states = RunStates(self.checkpoints)
        self.logs = self.path / "logs"
        self.history = self.path / "history.jsonl"

    # What it was made with --------------------------------------------------------

    @property
    def exists(self):
        return (self.path / "run.json").exists()

    def content(self):
        """What `run.json` holds."""
        return read_run(self.path / "run.json")

    def begin(self, settings, source_text, target_text):
        """Writes down what the run is made with.

        A run that goes on is that already: only what it may change is written, and by
        which command, because the first one alone does not make this run any more.
        """
        command = shlex.join(["seqattn", *self.about["command"]])
        if self.exists:
            content = self.content()
            if Settings.of(content["settings"]) != settings:
                content.setdefault("continued", []).append(command)
                content["settings"] = settings.to_dict()
        else:
            content = {
                "command": command,
                "settings": settings.to_dict(),
                "versions": versions(),
                "machine": machine(),
                "data": self.about["data"],
            }
        with replacing(self.path / "run.json") as file:
            text = json.dumps(content, indent=2, ensure_ascii=False)
            file.write_text(f"{text}\n", encoding="utf-8")
        if not (self.path / "text").exists():
            self._save_texts(source_text, target_text)

    def _save_texts(self, source, target):
        with replacing_folder(self.path / "text", "train", "text", _SIDES) as folder:
            source.save(Path(folder, "source"))
            if target is not source:
                target.save(Path(folder, "target"))

    def texts(self):
        """The processors of a run that goes on; None if it has not saved them yet."""
        if not self.exists or not (self.path / "text").exists():
            return None
        source = TextProcessor.load(self._text("source"))
        is_joint = not self._text("target").exists()
        return source, source if is_joint else TextProcessor.load(self._text("target"))

    def _text(self, side):
        return self.path / "text" / side

    # Who may write to it ----------------------------------------------------------

    def locked(self, command):
        """Inside, no other process trains in this folder."""
        return locked(self.path, command)

    def repair(self):
        """Puts in order what a killed process left behind; only with the lock."""
        if not self.exists and not self._is_hardly_begun():
            return  # the folder holds something else, which stays as it is
        repair(self.path, _FOLDERS)
        if self.checkpoints.exists():
            repair(self.checkpoints, ())
        if not self.exists and self._text("source").exists():
            # Earlier versions saved the texts first, and run.json after them.
            shutil.rmtree(self.path / "text")

    def _is_hardly_begun(self):
        """Whether all that is there was written by a run that has no run.json yet."""
        names = {path.name for path in self.path.iterdir()} - {LOCK}
        names -= {path.name for path in leftovers(self.path, _FOLDERS)}
        texts = self.path / "text"
        is_text = texts.is_dir() and {x.name for x in texts.iterdir()} <= {*_SIDES}
        return not names or names == {"text"} and is_text

    def check_free(self, settings):
        """Nothing is there that a new training would destroy."""
        if self.exists:
            different = _differences(Settings.of(self.content()["settings"]), settings)
            raise four_part_error(
                "train got the folder of another run",
                "a new folder",
                f"--out {self.path}, of a run with "
                + (", ".join(different) if different else "the same settings"),
                f"Choose another folder; to go on with that run: seqattn train "
                f"--resume {self.path}",
            )
        if {path.name for path in self.path.iterdir()} - {LOCK}:
            raise self._holds_something_else()

    def check_path(self):
        """What is there, if anything is, is a folder."""
        if self.path.exists() and not self.path.is_dir():
            raise self._holds_something_else()

    def _holds_something_else(self):
        return four_part_error(
            "train got a path that holds something else",
            "a new or an empty folder",
            f"--out {self.path}",
            "Choose another one; nothing in it was touched",
        )

    # How far it is ----------------------------------------------------------------

    def best(self):
        """The best validation so far in words, or None."""
        best = self.best_validation()
        if best is None:
            return None
        values = ", ".join(f"{n} {v:.2f}" for n, v in best["values"].items())
        return f"{values}, of step {best['step']}"

    def best_validation(self):
        """`{"step": int, "values": {metric: value}, ...}`, or None."""
        path = self.checkpoints / "validation.json"
        entries = read_entries(path)[1] if path.exists() else []
        return ([None] + [entry for entry in entries if entry["best"]])[-1]

    def load_state(self, model, epoch):
        """Weights and optimizer as they were after so many epochs."""
        if epoch:
            self.states.load(model, epoch)
        else:  # what was validated in an epoch that is not kept
            (self.checkpoints / "validation.json").unlink(missing_ok=True)


def run_of(path):
    """The run of a folder: itself, or the one whose translator it is; or None."""
    path = Path(path)
    around = RunFolder(path.absolute().parent)
    if (path / "run.json").exists():
        return RunFolder(path)
    # What else lies beside a run.json need not be of that run, nor be there: a path may
    # be the name of a shipped model.
    return around if around.translator == path.absolute() and around.exists else None


def _differences(old, new):
    """At most five settings, in words."""
    old, new = old.to_dict(), new.to_dict()
    found = [f"{n}={old[n]!r} (not {new[n]!r})" for n in old if old[n] != new[n]]
    return found if len(found) <= 5 else [*found[:5], f"{len(found) - 5} more"]
