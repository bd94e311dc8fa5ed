"""The folder of a training run: what is in it, and whose it is."""

import json
import shlex
import sys
import warnings
from pathlib import Path

from keras_seqattn.cli.errors import user_error
from keras_seqattn.cli.machine import machine
from keras_seqattn.cli.settings import Settings
from keras_seqattn.export import manifest
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.training.checkpoint import replacing

FREE = ("epochs", "minutes", "patience")  # what a resumed run may change


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
            source_text.save(self._text("source"))
            if target_text is not source_text:
                target_text.save(self._text("target"))
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

    def texts(self):
        """The processors of a run that goes on, or None."""
        if not self.exists:
            return None
        source = TextProcessor.load(self._text("source"))
        is_joint = not self._text("target").exists()
        return source, source if is_joint else TextProcessor.load(self._text("target"))

    def _text(self, side):
        return self.path / "text" / side

    def check_free(self, settings):
        """Nothing is there that a new training would destroy."""
        if self.exists:
            different = _differences(Settings.of(self.content()["settings"]), settings)
            raise user_error(
                "train got the folder of another run",
                "a new folder",
                f"--out {self.path}, of a run with "
                + (", ".join(different) if different else "the same settings"),
                f"Choose another folder; to go on with that run: seqattn train "
                f"--resume {self.path}",
            )
        if self.path.exists() and (self.path.is_file() or any(self.path.iterdir())):
            raise user_error(
                "train got a path that holds something else",
                "a new or an empty folder",
                f"--out {self.path}",
                "Choose another one; nothing in it was touched",
            )

    # How far it is ----------------------------------------------------------------

    def best(self):
        """The best validation so far in words, or None."""
        path = self.checkpoints / "validation.json"
        entries = json.loads(path.read_text())["entries"] if path.exists() else []
        best = [entry for entry in entries if entry["best"]]
        if not best:
            return None
        values = ", ".join(f"{n} {v:.2f}" for n, v in best[-1]["values"].items())
        return f"{values}, of step {best[-1]['step']}"

    def last_epoch(self):
        """How many epochs are done and kept."""
        return max([0, *map(_epoch, self.states())])

    def states(self):
        """Files with everything that is needed to go on."""
        return list(self.checkpoints.glob("state-*.weights.h5"))

    def state(self, epoch):
        """The file of an epoch."""
        return self.checkpoints / f"state-{epoch}.weights.h5"

    def load_state(self, model, epoch):
        """Weights and optimizer as they were after so many epochs."""
        if epoch:
            model.optimizer.build(model.trainable_variables)
            model.load_weights(self.state(epoch))
        else:  # what was validated in an epoch that is not kept
            (self.checkpoints / "validation.json").unlink(missing_ok=True)


def read_run(path):
    """A `run.json`, checked."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        Settings.of(content["settings"])
        return content
    except FileNotFoundError:
        received = f"{str(path)!r}, which does not exist"
    except (ValueError, KeyError, TypeError) as error:
        received = f"{str(path)!r}: {str(error).rstrip('.')}"
    raise user_error(
        "seqattn found no settings of a run",
        "a run.json that seqattn train has written",
        received,
        "Check the path: it is in the folder named by --out",
    )


def run_of(path):
    """The run of a folder: itself, or the one whose translator it is; or None."""
    path = Path(path)
    around = RunFolder(path.absolute().parent)
    if (path / "run.json").exists():
        return RunFolder(path)
    # What else lies beside a run.json need not be of that run, nor be there: a path may
    # be the name of a shipped model.
    return around if around.translator == path.absolute() and around.exists else None


def versions():
    """Of what computes; a repeated run wants the same."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **manifest.versions()}


def warn_of_versions(then):
    """Other versions compute other numbers."""
    now = versions()
    changed = [
        f"{n} {then.get(n)} (now {now[n]})" for n in now if then.get(n) != now[n]
    ]
    if changed:
        warnings.warn(
            "train goes on with other versions than the run began with. Expected "
            f"those in run.json, received another {', '.join(changed)}. Install the "
            "old ones if the numbers must be the same.",
            stacklevel=2,
        )


def _epoch(path):
    return int(path.name.removeprefix("state-").removesuffix(".weights.h5"))


def _differences(old, new):
    """At most five settings, in words."""
    old, new = old.to_dict(), new.to_dict()
    found = [f"{n}={old[n]!r} (not {new[n]!r})" for n in old if old[n] != new[n]]
    return found if len(found) <= 5 else [*found[:5], f"{len(found) - 5} more"]
