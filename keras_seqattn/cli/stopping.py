"""Ways to end a training: the clock, Ctrl-C, SIGTERM."""

import contextlib
import signal
import threading
import time

import keras


class TimeLimit(keras.callbacks.Callback):
    """Stops at the end of the step in which the time is over.

    Args:
        minutes: how long; None: without end.
    """

    def __init__(self, minutes):
        super().__init__()
        self.minutes = minutes

    def on_train_begin(self, logs=None):
        self.start = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        over = self.minutes and time.monotonic() - self.start >= 60 * self.minutes
        if over:
            self.model.stop_training = True


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
