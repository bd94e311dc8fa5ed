"""The folder of a `Validation`: its record, the best weights, the last weights."""

import re
import warnings
from pathlib import Path

from keras_seqattn.callbacks.save_attempts import SaveAttempts
from keras_seqattn.errors import four_part_error, four_parts
from keras_seqattn.files import is_whole, remove
from keras_seqattn.models.averaging import average_checkpoints
from keras_seqattn.models.checkpoint import (
    check_regular,
    load_weights,
    save_weights,
)

_LAST = re.compile(r"last-(\d+)\.weights\.h5")


class ValidationFolder:
    """Writes and reads the files of a validation.

    These are `validation.json`, `best.weights.h5` and, for each of the last
    validations, `last-<step>.weights.h5`. If a file cannot be saved, there is a
    warning, and the training continues.

    Args:
        path: of the folder.
        model: the model whose weights are saved.
        last: number of last validations whose weights are kept.
    """

    def __init__(self, path, model, last):
        self.path, self.model, self.last = Path(path), model, last
        self.record_path = self.path / "validation.json"
        self.best_path = self.path / "best.weights.h5"
        self._attempts = SaveAttempts("Validation")

    @property
    def unsaved(self):
        """`{name: reason}` of the files that could not be saved."""
        return self._attempts.unsaved

    # Writing ----------------------------------------------------------------------

    def save_record(self, record):
        """Save the record; return whether that worked, as `save_best` does."""
        return self._attempts.save("record", record.write, self.record_path)

    def save_best(self):
        return self._attempts.save("best weights", self._save_weights, self.best_path)

    def save_last(self, step):
        """Save the weights of this step, and remove the oldest ones."""
        if not self.last:
            return
        path = self.path / f"last-{step}.weights.h5"
        if self._attempts.save("last weights", self._save_weights, path):
            for old in self.last_paths()[: -self.last]:
                remove(old)

    def _save_weights(self, path):
        save_weights(self.model, path)

    # Reading ----------------------------------------------------------------------

    def resume(self, record, step):
        """Read the record of a training that continues at a step.

        Weights of later steps are deleted.
        """
        if self.record_path.exists():
            _check_resumes(step, self.record_path)
            record.read(self.record_path)
            if record.best:
                _check_best(self.best_path)
        for path in self.last_paths():
            if _step(path) > step:
                remove(path)

    def load_best(self):
        load_weights(self.model, self.best_path)

    def average(self):
        """Load the mean of the last weights into the model.

        Returns:
            The number of files that were averaged. 0: there were fewer than two, and
            the model is unchanged.
        """
        paths = self.last_paths() if self.last else []
        whole = [path for path in paths if is_whole(path) is not False]
        if len(whole) < len(paths):
            damaged = sorted({path.name for path in paths} - {p.name for p in whole})
            warnings.warn(
                four_parts(
                    "Validation got damaged weights",
                    "files that match their checksums",
                    f"other content of {', '.join(damaged)} in {str(self.path)!r}",
                    "The average is taken over the other files",
                ),
                RuntimeWarning,
                stacklevel=2,
            )
        if len(whole) < 2:
            return 0
        average_checkpoints(self.model, whole)
        return len(whole)

    def last_paths(self):
        """The paths of the last weights, oldest first."""
        paths = self.path.glob("last-*.weights.h5")
        return sorted((p for p in paths if _LAST.fullmatch(p.name)), key=_step)


def _step(path):
    return int(_LAST.fullmatch(path.name)[1])


def _check_resumes(step, path):
    if step == 0:
        raise four_part_error(
            "Validation got the folder of another training",
            "an empty folder, because the training starts at step 0",
            f"a folder with {str(path)!r}",
            "Use a new folder; to continue that training, load the model and the "
            "optimizer before fit",
        )


def _check_best(path):
    """Check the best weights now, not when the training ends."""
    if path.exists():
        check_regular(path)
    else:
        raise four_part_error(
            "Validation got a folder without its best weights",
            f"{str(path)!r}, because validation.json names a best validation",
            "no such file",
            "Put the file back, or delete validation.json: then the best value is "
            "forgotten",
        )
    if is_whole(path) is False:
        raise four_part_error(
            "Validation got damaged best weights",
            f"the checksum in {path.name}.sha256",
            f"other content of {str(path)!r}",
            "Put the right file back, or delete validation.json: then the best value "
            "is forgotten",
        )
