"""A limit for the number of log lines, so that bad requests cannot flood the log."""

import logging
import threading
import time

LINES = 20  # in a burst
SECONDS = 1.0  # until one more line may pass


class LogRate(logging.Filter):
    """Lets few warnings and errors pass, and logs how many it has left out.

    Lines of lower levels always pass: the user asks for them with --log-requests.

    Args:
        lines: number of lines that may come in a burst.
        seconds: time until one more line may pass.
    """

    def __init__(self, lines=LINES, seconds=SECONDS):
        super().__init__()
        self.lines, self.seconds = lines, seconds
        self._budget, self._since = float(lines), time.monotonic()
        self._left_out, self._lock = 0, threading.Lock()

    def filter(self, record):
        if record.levelno < logging.WARNING:
            return True
        with self._lock:
            if not self._take():
                self._left_out += 1
                return False
            left_out, self._left_out = self._left_out, 0
        if left_out:
            record.msg = f"{record.getMessage()} ({_message(left_out)})"
            record.args = ()
        return True

    def report(self, log):
        """Log how many lines were left out, once the rate allows a line again."""
        with self._lock:
            if not self._left_out or not self._take():
                return
            left_out, self._left_out = self._left_out, 0
        log.info("%s", _message(left_out))

    def _take(self):
        """Return whether one more line may pass now, and subtract it."""
        now = time.monotonic()
        self._budget += (now - self._since) / self.seconds
        self._budget, self._since = min(self._budget, self.lines), now
        if self._budget < 1:
            return False
        self._budget -= 1
        return True


def _message(count):
    return f"{count} earlier warnings or errors were not logged"
