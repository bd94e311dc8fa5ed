"""Ways to end a training: the clock, Ctrl-C, SIGTERM."""

import contextlib
import signal
import threading
import time

import keras

from keras_seqattn.cli.progress import note


class TimeLimit(keras.callbacks.Callback):
    """Stops at the end of the step in which the time is over.

    An epoch that it cuts short is validated, but not done: a run that goes on does it
    again.

    Args:
        minutes: how long; None: without end.
    """

    def __init__(self, minutes):
        super().__init__()
        self.minutes, self.has_cut = minutes, False

    def on_train_begin(self, logs=None):
        self.start, self.has_cut = time.monotonic(), False

    def on_train_batch_end(self, batch, logs=None):
        over = self.minutes and time.monotonic() - self.start >= 60 * self.minutes
        if over:
            self.model.stop_training = True
            self.has_cut = batch + 1 != self.params["steps"]
            if self.has_cut:
                note("\nthe time is over: to go on, this epoch is done again")


@contextlib.contextmanager
def interruptible():
    """Inside, SIGTERM does what Ctrl-C does: it raises `KeyboardInterrupt`."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
