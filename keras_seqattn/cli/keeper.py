"""What a training leaves in its folder while it runs."""

import os
import time
import warnings

import keras

from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.cli import history
from keras_seqattn.cli.errors import RunFailed
from keras_seqattn.cli.machine import peak_memory
from keras_seqattn.errors import four_part_error


class Keeper(keras.callbacks.Callback):
    """Keeps the best translator, the state to go on from, and the history.

    It stands behind the validation in the list of callbacks.

    Args:
        run: `RunFolder`.
        translator: `Translator` that is trained.
        validation: `Validation`, which says what is best.
        limit: `TimeLimit`, which says whether an epoch was cut short.
    """

    def __init__(self, run, translator, validation, limit):
        super().__init__()
        self.run, self.translator = run, translator
        self.validation, self.limit = validation, limit
        self.seen = self.kept = None  # validations: the last best one, the one saved
        self.unsaved = {}  # what is not on the disk as it should be, and why

    def on_train_begin(self, logs=None):
        self.seen = self.validation.best  # of a resumed run
        done = self._forget(int(self.model.optimizer.iterations))
        self.start = time.monotonic() - (done[-1].get("seconds") or 0 if done else 0)

    def on_epoch_end(self, epoch, logs=None):
        # A state comes after its entry in the history: whatever is killed or full in
        # between, no epoch is missing there.
        if not self.limit.has_cut:  # else it is done again
            if self._write_history(epoch + 1, logs or {}):
                self._save_state(epoch + 1)
            else:
                self.unsaved["state"] = self.unsaved["history"]
        # Last: it can be made again from the best weights, an epoch only by training.
        if self.validation.best is not self.seen:
            self.seen = self.validation.best
            with final_weights(self.model):  # those which were validated
                self._save_translator()

    def finish(self, only_best=False):
        """However training ended: a translator, of the best weights that there are.

        Args:
            only_best: whether the weights of now are not worth a translator.
        """
        if self.validation.best is not self.kept:
            self.validation.folder.load_best()
            self._save_translator()
        elif not only_best and not self.run.translator.exists():
            with final_weights(self.model):
                self._save_translator()

    def check_saved(self):
        """Raises if something of the run is not on the disk as it should be."""
        unsaved = {**self.unsaved, **self.validation.folder.unsaved}
        if unsaved:
            reasons = "; ".join(f"{what}: {why}" for what, why in unsaved.items())
            raise four_part_error(
                "train could not save all of the run",
                "its state, history and translator on the disk",
                reasons,
                "What was there before is untouched: make room, then call seqattn "
                f"train --resume {self.run.path}",
                kind=RunFailed,
            )

    def _save_translator(self):
        if self._saved("translator", self.translator.save, self.run.translator):
            self.kept = self.validation.best

    def _save_state(self, epoch):
        def write(path):
            self.run.states.save(self.model, epoch)

        self._saved("state", write, self.run.states.path(epoch))

    # History ----------------------------------------------------------------------

    def _write_history(self, epoch, logs):
        entry = {
            "epoch": epoch,
            "step": int(self.model.optimizer.iterations),
            "seconds": round(time.monotonic() - self.start, 1),
            "memory": peak_memory(),  # in MiB
            **{name: float(value) for name, value in logs.items()},
        }
        self.entries.append(entry)  # with those that could not be written before

        def write(path):
            history.write(path, self.entries)

        return self._saved("history", write, self.run.history)

    def _forget(self, step):
        """What came after the step at which training goes on; returns the rest."""
        entries = history.read(self.run.history)
        self.entries = [entry for entry in entries if entry["step"] <= step]
        if self.entries != entries:
            history.write(self.run.history, self.entries)
        return self.entries

    def _saved(self, what, write, path):
        """Whether it is on the disk now. What is in the way does not end a training."""
        self.unsaved.pop(what, None)
        try:
            write(path)
            return True
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            remedy = "Make room"
        except ValueError as error:  # a folder with something that is not ours
            reason = str(error).rstrip(".")
            remedy = "Remove the files that do not belong to the run"
        self.unsaved[what] = reason
        warnings.warn(
            f"train could not save its {what}. Expected to write {str(path)!r}, "
            f"received: {reason}. {remedy}: training goes on, and what was there "
            "before is untouched.",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
