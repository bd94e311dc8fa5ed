"""The files of a validated training: its record, the best weights, the last few."""

import os
import re
import warnings
from pathlib import Path

from keras_seqattn.errors import four_part_error
from keras_seqattn.files import is_whole, remove
from keras_seqattn.models.averaging import average_checkpoints
from keras_seqattn.models.checkpoint import (
    check_regular,
    load_weights,
    save_weights,
)

_LAST = re.compile(r"last-(\d+)\.weights\.h5")


class ValidationFolder:
    """`validation.json`, `best.weights.h5`, and some `last-<step>.weights.h5`.

    Args:
        path: of the folder.
        model: whose weights they are.
        last: how many of the last ones are kept.
    """

    def __init__(self, path, model, last):
        self.path, self.model, self.last = Path(path), model, last
        self.record_path = self.path / "validation.json"
        self.best_path = self.path / "best.weights.h5"
        self.unsaved = {}  # what is not on the disk as it should be, and why

    # Writing: whether it is on the disk now. A full disk does not end a training.

    def save_record(self, record):
        return self._saved("record", record.write, self.record_path)

    def save_best(self):
        return self._saved("best weights", self._save_weights, self.best_path)

    def save_last(self, step):
        path = self.path / f"last-{step}.weights.h5"
        if self.last and self._saved("last weights", self._save_weights, path):
            for old in self.last_paths()[: -self.last]:
                remove(old)

    def _save_weights(self, path):
        save_weights(self.model, path)

    def _saved(self, what, write, path):
        self.unsaved.pop(what, None)
        try:
            write(path)
            return True
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
        self.unsaved[what] = reason
        warnings.warn(
            f"Validation could not save a file. Expected to write {str(path)!r}, "
            f"received: {reason}. Make room: training goes on, what was there before "
            "is untouched, and weights that cannot be saved do not count as the best.",
            RuntimeWarning,
            stacklevel=2,
        )
        return False

    # Reading

    def go_on(self, record, step):
        """The record of a training that goes on at a step; later files are deleted."""
        if self.record_path.exists():
            _check_goes_on(step, self.record_path)
            record.read(self.record_path)
            if record.best:
                _check_best(self.best_path)
        for path in self.last_paths():
            if _step(path) > step:
                remove(path)

    def load_best(self):
        load_weights(self.model, self.best_path)

    def average(self):
        """Gives the model the mean of the last ones; of how many, 0: nothing done."""
        paths = self.last_paths() if self.last else []
        whole = [path for path in paths if is_whole(path) is not False]
        if len(whole) < len(paths):
            damaged = sorted({path.name for path in paths} - {p.name for p in whole})
            warnings.warn(
                "Validation found damaged weights. Expected the checksums beside the "
                f"files, received other content of {', '.join(damaged)} in "
                f"{str(self.path)!r}. The mean is that of the other files.",
                RuntimeWarning,
                stacklevel=2,
            )
        if len(whole) < 2:
            return 0
        average_checkpoints(self.model, whole)
        return len(whole)

    def last_paths(self):
        """Oldest first."""
        found = self.path.glob("last-*.weights.h5")
        return sorted((p for p in found if _LAST.fullmatch(p.name)), key=_step)


def _step(path):
    return int(_LAST.fullmatch(path.name)[1])


def _check_goes_on(step, path):
    if step == 0:
        raise four_part_error(
            "Validation got the folder of another training",
            "an empty one for a training that starts at step 0",
            f"one with {str(path)!r}",
            "Use a new folder; or, to go on, load model and optimizer before fit",
        )


def _check_best(path):
    """Now, not when training ends."""
    if path.exists():
        check_regular(path)
    else:
        raise four_part_error(
            "Validation got a folder without its best weights",
            f"{str(path)!r}, as validation.json names a best validation",
            "no file",
            "Put it back; or delete validation.json, which forgets the best value",
        )
    if is_whole(path) is False:
        raise four_part_error(
            "Validation got damaged best weights",
            f"the checksum in {path.name}.sha256",
            f"other content of {str(path)!r}",
            "Put the file back; or delete validation.json, which forgets the best "
            "value",
        )
