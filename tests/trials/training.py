"""The short real training that all trials share, in a process of its own.

It has dropout, a moving average, the mean of the last three and a validation in every
epoch. Two uninterrupted runs are equal bit for bit with TensorFlow's usual threads.
`--sample` is left out: the random generator of SentencePiece has no seed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.trials import file_operations

ROOT = Path(__file__).parents[2]  # the checkout whose command is under test
OPTIONS = (
    "--task dates --task-option train=400 validation=24 test=12 --model luong2015 "
    "--preset small --set units=16 embedding=12 layers=1 dropout=0.2 "
    "--text sentencepiece:80:bpe --metric chrf exact_match --learning-rate 0.02 "
    "--batch-size 40 --beam 2 --average 3 --ema 0.9 --attention 2"
).split()
RECIPES = {
    "all epochs": "--epochs 4 --patience 3".split(),
    "stopped early": "--epochs 8 --patience 2".split(),  # after five epochs
}
LIMIT = 240  # seconds after which a process counts as hanging
# What the command prints, in the order of a run.
READY, VALIDATED, AVERAGED = "pairs for training", "\nstep ", "\nmean of the last "
DONE = "\ndone: "
POLL = 0.01


class Training:
    """A process of `seqattn train` in a folder, with a command as users type it.

    It goes on with the run in `folder/run` if there is a `run.json`, else it starts it.
    What it prints is in the file `output`.
    """

    def __init__(self, folder, recipe, output, environment=None):
        self.output, self.start = output, time.monotonic()
        run = folder / "run"
        self.is_resumed = (run / "run.json").exists()
        new = [*OPTIONS, *RECIPES[recipe], "--out", str(run)]
        options = ["--resume", str(run)] if self.is_resumed else new
        self.command = [sys.executable, "-m", "seqattn_command", "train", *options]
        how = {"cwd": folder.parent, "env": {**_environment(), **(environment or {})}}
        with output.open("wb") as file:
            how |= {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
            self.process = subprocess.Popen(self.command, stdout=file, **how)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def seconds(self):
        return time.monotonic() - self.start

    @property
    def text(self):
        return self.output.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, text):
        """Until it is printed: the seconds since the start; None if it never is."""
        while text not in self.text:
            if self.process.poll() is not None:
                return None
            self._check_time()
            time.sleep(POLL)
        return self.seconds

    def wait(self, seconds=None):
        end = None if seconds is None else time.monotonic() + seconds
        while self.process.poll() is None:
            if end is not None and time.monotonic() >= end:
                return None
            self._check_time()
            time.sleep(POLL)
        return self.process.returncode

    def check_end(self, what="refused or failed"):
        if self.wait() != 0:
            raise Failed(f"{what}: {self.about()}")

    def kill(self):
        """SIGKILL; returns the code of the process, which may have ended before."""
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()

    def _check_time(self):
        if self.seconds > LIMIT:
            self.kill()
            raise Failed(f"the process hangs, {LIMIT} s\n{self.about()}")

    def about(self):
        tail = "\n".join(self.text.splitlines()[-25:])
        code = self.process.returncode
        return f"{' '.join(self.command)}\nended with {code} and printed:\n{tail}"


class Failed(Exception):
    """The command did what it must not do."""


def ended(folder, recipe, output, environment=None):
    with Training(folder, recipe, output, environment) as training:
        training.check_end()
    return training


def disturbed(folder, recipe, library, attempt=1, **what):
    """The `Training` in `folder/work`, ended or killed, and its operations.

    Where: see `file_operations.environment`.
    """
    work, log = folder / "work", folder / f"operations-{attempt}.txt"
    counted = file_operations.environment(library, work, log, **what)
    with Training(work, recipe, folder / f"output-{attempt}.txt", counted) as training:
        training.wait()
    return training, file_operations.read(log)


def _environment():
    other = {"TF_CPP_MIN_LOG_LEVEL", "LD_PRELOAD"}
    kept = {k: v for k, v in os.environ.items() if k not in other}
    return {**kept, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "tensorflow"}
