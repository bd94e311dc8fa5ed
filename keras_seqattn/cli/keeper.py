"""What a training leaves in its folder while it runs."""

import os
import time
import warnings

import keras

from keras_seqattn.cli import history
from keras_seqattn.cli.machine import peak_memory
from keras_seqattn.training.checkpoint import save_weights
from keras_seqattn.training.moving_average import final_weights


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

    def on_train_begin(self, logs=None):
        self.seen = self.validation.best  # of a resumed run
        done = self._forget(int(self.model.optimizer.iterations))
        self.start = time.monotonic() - (done[-1]["seconds"] if done else 0)

    def on_epoch_end(self, epoch, logs=None):
        if not self.limit.has_cut:  # else it is done again
            self._save_state(epoch + 1)
            self._write_history(epoch + 1, logs or {})
        # Last: it can be made again from the best weights, an epoch only by training.
        if self.validation.best is not self.seen:
            self.seen = self.validation.best
            with final_weights(self.model):  # those which were validated
                self._save_translator()

    def finish(self):
        """However training ended: a translator, of the best weights that there are."""
        if self.validation.best is not self.kept:
            self.validation.folder.load_best()
            self._save_translator()
        elif not self.run.translator.exists():
            with final_weights(self.model):
                self._save_translator()

    def _save_translator(self):
        if _saved("translator", self.translator.save, self.run.translator):
            self.kept = self.validation.best

    def _save_state(self, epoch):
        old, path = self.run.states(), self.run.state(epoch)
        if _saved("state", self._save_weights, path):
            for other in old:
                if other != path:
                    other.unlink()

    def _save_weights(self, path):
        save_weights(self.model, path, with_optimizer=True)

    # History ----------------------------------------------------------------------

    def _write_history(self, epoch, logs):
        entry = {
            "epoch": epoch,
            "step": int(self.model.optimizer.iterations),
            "seconds": round(time.monotonic() - self.start, 1),
            "memory": peak_memory(),  # in MiB
            **{name: float(value) for name, value in logs.items()},
        }
        entries = [*history.read(self.run.history), entry]
        _saved("history", lambda path: history.write(path, entries), self.run.history)

    def _forget(self, step):
        """What came after the step at which training goes on; returns the rest."""
        entries = history.read(self.run.history)
        kept = [entry for entry in entries if entry["step"] <= step]
        if kept != entries:
            history.write(self.run.history, kept)
        return kept


def _saved(what, write, path):
    """Whether it is on the disk now. What is in the way shall not end a training."""
    try:
        write(path)
        return True
    except OSError as error:
        reason = f"{os.strerror(error.errno) if error.errno else error}. Make room"
    except ValueError as error:  # a folder with something that is not ours
        reason = f"{str(error).rstrip('.')}. Take away what is not of the run"
    warnings.warn(
        f"train could not save its {what}. Expected to write {str(path)!r}, "
        f"received: {reason}: training goes on, and what was there before is "
        "untouched.",
        RuntimeWarning,
        stacklevel=2,
    )
    return False
