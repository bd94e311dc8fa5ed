"""The callbacks of a run: checkpoints, random seeds, a time limit."""

import contextlib
import signal
import sys
import threading
import time

import keras
import numpy as np

from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.callbacks.save_attempts import SaveAttempts
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.run_states import read_history, write_history
from keras_seqattn.errors import four_part_error
from seqattn_command.command import RunFailed

try:
    import resource
except ImportError:  # Windows
    resource = None

_STRIDE = 1_000_003  # odd, and more random draws than a layer makes in an epoch


class RunCheckpoint(keras.callbacks.Callback):
    """Save the best translator, the state of the last epochs, and the history.

    It must come after the validation in the list of callbacks.

    Args:
        run: `RunFolder`.
        translator: `Translator` that is trained.
        validation: `Validation`, which knows the best weights.
        limit: `TimeLimit`, which knows whether an epoch was cut short.
        thawed: context manager in which no layer is frozen, see `frozen`.
    """

    def __init__(
        self, run, translator, validation, limit, thawed=contextlib.nullcontext
    ):
        super().__init__()
        self.thawed = thawed
        self.run, self.translator = run, translator
        self.validation, self.limit = validation, limit
        # Validations: the best one, and the one whose translator is saved.
        self.best = self.saved = None
        # A failure does not end training, because a later epoch may succeed.
        self._attempts = SaveAttempts("train", catches_value_errors=True)

    def on_train_begin(self, logs=None):
        self.best = self.validation.best  # of a resumed run
        entries = self._forget_after(int(self.model.optimizer.iterations))
        seconds = entries[-1].get("seconds") or 0 if entries else 0
        self.start = time.monotonic() - seconds

    def on_epoch_end(self, epoch, logs=None):
        # The state is written after the entry of the history. If the process is killed
        # in between, or the disk is full, the history still lacks no epoch.
        if not self.limit.has_cut:  # else a resumed run repeats the epoch
            if self._write_history(epoch + 1, logs or {}):
                self._save_state(epoch + 1)
            else:
                unsaved = self._attempts.unsaved
                unsaved["state"] = unsaved["history"]
        # The translator comes last: the best weights can restore it, but only training
        # can restore an epoch.
        if self.validation.best is not self.best:
            self.best = self.validation.best
            with final_weights(self.model):  # the weights that were validated
                self._save_translator()

    def finish(self, only_best=False):
        """Save a translator of the best weights, however training ended.

        Args:
            only_best: if True, never save the current weights.
        """
        if self.validation.best is not self.saved:
            self.validation.folder.load_best()
            self._save_translator()
        elif not only_best and not self.run.translator.exists():
            with final_weights(self.model):
                self._save_translator()

    def check_saved(self):
        """Raise an error if a part of the run could not be saved."""
        unsaved = {**self._attempts.unsaved, **self.validation.folder.unsaved}
        if unsaved:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in unsaved.items())
            raise four_part_error(
                "train could not save the whole run",
                "its state, history and translator on the disk",
                reasons,
                "The files saved before are unchanged. Free disk space, then call "
                f"seqattn train --resume {self.run.path}",
                kind=RunFailed,
            )

    def _save_translator(self):
        with self.thawed():
            path, save = self.run.translator, self.translator.save
            if self._attempts.save("translator", save, path):
                self.saved = self.validation.best

    def _save_state(self, epoch):
        def write(path):
            self.run.states.save(self.model, epoch)

        self._attempts.save("state", write, self.run.states.path(epoch))

    # History ----------------------------------------------------------------------

    def _write_history(self, epoch, logs):
        entry = {
            "epoch": epoch,
            "step": int(self.model.optimizer.iterations),
            "seconds": round(time.monotonic() - self.start, 1),
            "memory": _peak_memory(),  # in MiB
            **{name: float(value) for name, value in logs.items()},
        }
        self.entries.append(entry)  # earlier entries may not have been written yet

        def write(path):
            write_history(path, self.entries)

        return self._attempts.save("history", write, self.run.history)

    def _forget_after(self, step):
        """Remove the entries after a step, and return the others."""
        entries = read_history(self.run.history)
        self.entries = [entry for entry in entries if entry["step"] <= step]
        if self.entries != entries:
            write_history(self.run.history, self.entries)
        return self.entries


class SeedPerEpoch(keras.callbacks.Callback):
    """Set the random states of all layers at the start of each epoch.

    Keras does not save these states with the weights. Without this callback, the
    dropout of a resumed run would repeat the masks of the first epoch.
    """

    def on_epoch_begin(self, epoch, logs=None):
        for variable in _random_states(self.model):
            seed = int(variable.numpy()[0])  # the second number is a counter
            variable.assign([seed, epoch * _STRIDE % 2**32])


def seed_random_states(model, seed):
    """Set the random states of all layers to numbers that depend on the seed alone."""
    draw = np.random.default_rng(seed)
    for variable in _random_states(model):
        variable.assign([int(draw.integers(2**32)), 0])


def _random_states(model):
    states = (x for x in model.variables if x.path.endswith("seed_generator_state"))
    return list(states)


class TimeLimit(keras.callbacks.Callback):
    """Stop training at the end of the step in which the time is over.

    An epoch that is cut short is validated, but does not count: a resumed run repeats
    it.

    Args:
        minutes: the limit; None means no limit.
    """

    def __init__(self, minutes):
        super().__init__()
        self.minutes, self.has_cut = minutes, False

    def on_train_begin(self, logs=None):
        self.start, self.has_cut = time.monotonic(), False

    def on_train_batch_end(self, batch, logs=None):
        is_over = self.minutes and time.monotonic() - self.start >= 60 * self.minutes
        if is_over:
            self.model.stop_training = True
            self.has_cut = batch + 1 != self.params["steps"]
            if self.has_cut:
                note("\nThe time is over. A resumed run repeats this epoch.")


@contextlib.contextmanager
def interruptible():
    """Inside this context SIGTERM raises `KeyboardInterrupt`, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _peak_memory():
    """Return the most memory of this process so far in MiB, or None on Windows."""
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    is_linux = sys.platform.startswith("linux")
    return round(peak / (2**10 if is_linux else 2**20))  # macOS counts bytes
