"""The folder of a training run: its files, and which process may write to it."""

import json
import shlex
import shutil
from pathlib import Path

from keras_seqattn.callbacks.validation_record import read_entries
from keras_seqattn.cli.run_json import (
    REPORT,
    machine,
    read_run,
    settings_from_dict,
    versions,
)
from keras_seqattn.cli.run_lock import NAME as LOCK
from keras_seqattn.cli.run_lock import locked
from keras_seqattn.cli.run_states import RunStates
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import leftovers, repair, replacing, replacing_folder
from keras_seqattn.text.processor import TextProcessor

# The settings that a resumed run may change.
CHANGEABLE = ("epochs", "minutes", "patience", "on_divergence")
_SIDES = ("source", "target")
_FOLDERS = ("text", "start", "translator")  # each is written as a whole


class RunFolder:
    """The folder of a run.

    It holds `run.json`, `text/`, `translator/`, `checkpoints/`, `logs/` and
    `history.jsonl`; with `--init-from` also `start/`, the translator it begins with.

    Args:
        path: path of the folder.
        about: `{"command": list of str, "data": fingerprints, "left_out": {split:
            Report}}`, for a new run.
    """

    def __init__(self, path, about=None):
        self.path, self.about = Path(path), about
        self.translator = self.path / "translator"
        self.start = self.path / "start"  # the translator of --init-from, with its text
        self.checkpoints = self.path / "checkpoints"
        self.states = RunStates(self.checkpoints)
        self.logs = self.path / "logs"
        self.history = self.path / "history.jsonl"

    # Settings and texts -----------------------------------------------------------

    @property
    def exists(self):
        return (self.path / "run.json").exists()

    def content(self):
        """Return the content of `run.json`."""
        return read_run(self.path / "run.json")

    def settings(self):
        """Return the settings in `run.json`."""
        return settings_from_dict(self.content()["settings"])

    def begin(self, settings, source_text, target_text):
        """Write `run.json` and the text processors.

        For a resumed run, only changed settings are written, and the command that
        changed them, because the first command alone no longer reproduces the run.
        """
        command = shlex.join(["seqattn", *self.about["command"]])
        if self.exists:
            content = self.content()
            if settings_from_dict(content["settings"]) != settings:
                content.setdefault("continued", []).append(command)
                content["settings"] = settings.to_dict()
        else:
            content = {
                "command": command,
                "settings": settings.to_dict(),
                "versions": versions(),
                "machine": machine(),
                "data": self.about["data"],
                "left_out": {
                    split: {name: getattr(report, name) for name in REPORT}
                    for split, report in self.about["left_out"].items()
                    if report.dropped
                },
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
        """Return the saved text processors of both sides, or None."""
        if not self.exists or not (self.path / "text").exists():
            return None
        source = TextProcessor.load(self._text("source"))
        is_joint = not self._text("target").exists()
        return source, source if is_joint else TextProcessor.load(self._text("target"))

    def _text(self, side):
        return self.path / "text" / side

    # Locking and repair -----------------------------------------------------------

    def locked(self, command):
        """Return a context in which no other process trains in this folder."""
        return locked(self.path, command)

    def repair(self):
        """Clean up after a process that was killed. The caller must hold the lock."""
        if not self.exists and not self._is_begun():
            return  # the folder holds other files, which stay unchanged
        repair(self.path, _FOLDERS)
        if self.checkpoints.exists():
            repair(self.checkpoints, ())
        if not self.exists and self._text("source").exists():
            # Earlier versions saved the texts first, and run.json after them.
            shutil.rmtree(self.path / "text")

    def _is_begun(self):
        """Return whether all files are those of a run that has no run.json yet."""
        names = {path.name for path in self.path.iterdir()} - {LOCK}
        names -= {path.name for path in leftovers(self.path, _FOLDERS)}
        texts = self.path / "text"
        is_text = texts.is_dir() and {x.name for x in texts.iterdir()} <= {*_SIDES}
        return not names or names == {"text"} and is_text

    def check_free(self, settings):
        """Check that a new training would not overwrite anything."""
        if self.exists:
            different = _differences(self.settings(), settings)
            raise four_part_error(
                "train got the folder of another run",
                "a new folder",
                f"--out {self.path}, of a run with "
                + (", ".join(different) if different else "the same settings"),
                f"Choose another folder; to continue that run: seqattn train "
                f"--resume {self.path}",
            )
        if {path.name for path in self.path.iterdir()} - {LOCK}:
            raise self._other_files_error()

    def check_path(self):
        """Check that the path is a folder or does not exist."""
        if self.path.exists() and not self.path.is_dir():
            raise self._other_files_error()

    def _other_files_error(self):
        return four_part_error(
            "train got a path that holds other files",
            "a new or an empty folder",
            f"--out {self.path}",
            "Choose another path; this one is unchanged",
        )

    # Progress ---------------------------------------------------------------------

    def best(self):
        """Return the metrics and the step of the best validation as text, or None."""
        best = self.best_validation()
        if best is None:
            return None
        values = ", ".join(f"{n} {v:.2f}" for n, v in best["values"].items())
        return f"{values}, of step {best['step']}"

    def best_validation(self):
        """Return `{"step": int, "values": {metric: value}, ...}`, or None."""
        path = self.checkpoints / "validation.json"
        entries = read_entries(path)[1] if path.exists() else []
        return ([None] + [entry for entry in entries if entry["best"]])[-1]

    def epochs(self):
        """Return the number of epochs after which the last state was saved."""
        return max(self.states.epochs(), default=0)

    def load_state(self, model, epoch):
        """Load the weights and the optimizer after an epoch; 0 is before the first."""
        if epoch:
            self.states.load(model, epoch)
        else:  # validations of epochs whose states are lost
            (self.checkpoints / "validation.json").unlink(missing_ok=True)


def find_run(path):
    """Return the run of a folder, of a run or of its translator, or None."""
    path = Path(path)
    parent = RunFolder(path.absolute().parent)
    if (path / "run.json").exists():
        return RunFolder(path)
    # Other paths beside a run.json may not belong to the run, or may not exist: a path
    # can be the name of a shipped model.
    return parent if parent.translator == path.absolute() and parent.exists else None


def _differences(old, new):
    """Return at most five differences as texts."""
    old, new = old.to_dict(), new.to_dict()
    texts = [f"{n}={old[n]!r} (not {new[n]!r})" for n in old if old[n] != new[n]]
    return texts if len(texts) <= 5 else [*texts[:5], f"{len(texts) - 5} more"]
