"""What a training leaves in its folder while it runs."""

import json
import os
import time
import warnings

import keras

from keras_seqattn.training.checkpoint import replacing, save_weights
from keras_seqattn.training.moving_average import final_weights


class Keeper(keras.callbacks.Callback):
    """Keeps the best translator, the state to go on from, and the history.

    It stands behind the validation in the list of callbacks.

    Args:
        run: `RunFolder`.
        translator: `Translator` that is trained.
        validation: `Validation`, which says what is best.
    """

    def __init__(self, run, translator, validation):
        super().__init__()
        self.run, self.translator, self.validation = run, translator, validation
        self.seen = self.kept = None  # validations: the last best one, the one saved

    def on_train_begin(self, logs=None):
        self.seen = self.validation.best  # of a resumed run
        self.start = time.monotonic()
        self._forget(int(self.model.optimizer.iterations))

    def on_epoch_end(self, epoch, logs=None):
        if self.validation.best is not self.seen:
            self.seen = self.validation.best
            with final_weights(self.model):  # those which were validated
                self._save_translator()
        self._save_state(epoch + 1)
        self._write_history(epoch + 1, logs or {})

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
            **{name: float(value) for name, value in logs.items()},
        }
        _saved("history", lambda path: _append(path, entry), self.run.history)

    def _forget(self, step):
        """What came after the step at which training goes on."""
        if self.run.history.exists():
            lines = self.run.history.read_text(encoding="utf-8").splitlines(True)
            kept = [line for line in lines if json.loads(line)["step"] <= step]
            with replacing(self.run.history) as file:
                file.write_text("".join(kept), encoding="utf-8")


def _append(path, entry):
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _saved(what, write, path):
    """Whether it is on the disk now. A full one shall not end a training."""
    try:
        write(path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        warnings.warn(
            f"train could not save its {what}. Expected to write {str(path)!r}, "
            f"received: {reason}. Make room: training goes on, and what was there "
            "before is untouched.",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True
