"""What a trial prints while it goes on, and how it goes on."""

import os
import re
import shutil
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.trials.fingerprints import differences, fingerprint, leftovers
from tests.trials.training import Failed


def number(name, usual):
    return int(os.environ.get(f"KERAS_SEQATTN_TRIAL_{name}", usual))


def shortened(operations):
    """Of chosen operations those that the environment asks for, for a short trial.

    KERAS_SEQATTN_TRIAL_ONLY=history takes those with the word in their line,
    KERAS_SEQATTN_TRIAL_EVERY=5 every fifth of them.
    """
    word = os.environ.get("KERAS_SEQATTN_TRIAL_ONLY", "")
    return [o for o in operations if word in str(o)][:: number("EVERY", 1)]


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def check_equal(run, straight):
    """Raises unless the run is what the uninterrupted one is, and nothing more."""
    try:
        different = differences(straight.fingerprint, fingerprint(run))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise Failed(f"the run cannot be read: {error!r}") from error
    if left := leftovers(run):
        different.append(f"left behind: {left}")
    if different:
        lines = "\n  ".join(different)
        raise Failed(f"the run differs from an uninterrupted one:\n  {lines}")


class Jobs:
    """Calls a function for each job in one or two threads, until the first failure.

    With KERAS_SEQATTN_TRIAL_ALL=1 it goes on after failures and names them at the end.
    Each job gets a folder of its own in `place`, kept if it fails.
    """

    def __init__(self, place, name):
        self.folder, self.name = place / re.sub(r"\W+", "-", name), name
        self.lock, self.done, self.failures = threading.Lock(), 0, []
        self.goes_on = number("ALL", 0) == 1
        self.start = time.monotonic()

    def run(self, jobs, call):
        """`call(job, folder)` raises `Failed` if the command did something wrong."""
        left, many = enumerate(jobs, 1), min(2, number("PROCESSES", 1))

        def work(_):
            while self.goes_on or not self.failures:
                with self.lock:
                    index, job = next(left, (None, None))
                if index is None:
                    return
                self._one(index, job, call)

        with ThreadPoolExecutor(many) as pool:
            list(pool.map(work, range(many)))

    def finish(self, summary):
        minutes = (time.monotonic() - self.start) / 60
        failed = f"{len(self.failures)} failed"
        say(f"{self.name}: {summary}, {failed}, {minutes:.1f} minutes")
        if self.failures:
            first = (text.splitlines()[0][:300] for text in self.failures)
            pytest.fail("\n".join(first), pytrace=False)

    def _one(self, index, job, call):
        folder = self.folder / str(index)
        (folder / "work").mkdir(parents=True)
        try:
            call(job, folder)
        except Failed as error:
            text = f"{self.name}, number {index} ({job}), {folder}: {error}"
            self.failures.append(text)
            say(f"FAILED: {text}")
        else:
            shutil.rmtree(folder)
        self.done += 1
