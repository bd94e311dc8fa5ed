"""A flood of errors leaves few lines in the log."""

import logging

import pytest

from keras_seqattn.serving import log_rate
from keras_seqattn.serving.log_rate import LogRate


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as the filter sees them."""
    now = [100.0]
    monkeypatch.setattr(log_rate.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def log():
    """A log whose lines are in `log.lines`."""
    found = logging.getLogger("tests.log_rate")
    found.setLevel(logging.INFO)
    found.propagate, found.lines = False, []
    handler = logging.Handler()
    handler.emit = lambda record: found.lines.append(record.getMessage())
    found.addHandler(handler)
    found.handler = handler
    yield found
    found.removeHandler(handler)


def test_few_lines(clock, log):
    rate = LogRate(lines=3, seconds=2.0)
    log.handler.addFilter(rate)
    for number in range(1000):
        log.error("error %d", number)
        log.info("asked for")
    assert log.lines.count("asked for") == 1000
    errors = [line for line in log.lines if line != "asked for"]
    assert errors == ["error 0", "error 1", "error 2"]
    clock[0] += 2.0
    log.lines.clear()
    log.warning("%s more", "one")
    log.warning("another")
    assert log.lines == ["one more (997 earlier warnings or errors were not logged)"]
    rate.report(log)  # there is no room for a line yet
    clock[0] += 60.0
    rate.report(log)
    rate.report(log)
    assert log.lines[1:] == ["1 earlier warnings or errors were not logged"]
