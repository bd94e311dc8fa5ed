"""A log that a flood of bad requests does not fill."""

import logging
import threading
import time

LINES = 20  # at once
SECONDS = 1.0  # until one more


class LogRate(logging.Filter):
    """Lets few warnings and errors pass, and says how many it has left out.

    Lines of other levels always pass: those of --log-requests are asked for.

    Args:
        lines: that may come at once.
        seconds: until one more may come.
    """

    def __init__(self, lines=LINES, seconds=SECONDS):
        super().__init__()
        self.lines, self.seconds = lines, seconds
        self._left, self._since = float(lines), time.monotonic()
        self._left_out, self._lock = 0, threading.Lock()

    def filter(self, record):
        if record.levelno < logging.WARNING:
            return True
        with self._lock:
            if not self._take():
                self._left_out += 1
                return False
            found, self._left_out = self._left_out, 0
        if found:
            record.msg = f"{record.getMessage()} ({_left_out(found)})"
            record.args = ()
        return True

    def report(self, log):
        """Says what was left out, once there is room for a line again."""
        with self._lock:
            if not self._left_out or not self._take():
                return
            found, self._left_out = self._left_out, 0
        log.info("%s", _left_out(found))

    def _take(self):
        now = time.monotonic()
        self._left += (now - self._since) / self.seconds
        self._left, self._since = min(self._left, self.lines), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _left_out(count):
    return f"{count} earlier warnings or errors were not logged"
