"""Runs each contender in its own process, and controls it through a pipe."""

import contextlib
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
PATIENCE = 1200.0  # seconds for one answer; torch.compile takes minutes


class Refused(Exception):
    """A contender did not execute a command; the message says why."""


class Process:
    """The process of one contender.

    Args:
        name: name of the contender.
        python: path of the Python of another environment, or None.
        root: folder of the checkout whose code it runs.
        path: folders with modules that this checkout may not have.
    """

    def __init__(self, name, python=None, root=ROOT, path=()):
        self.name, self.log = name, tempfile.TemporaryFile()
        self.connection, theirs = multiprocessing.Pipe()
        command = [python or sys.executable, "-m", "benchmarks.worker"]
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
        found = [root, *path, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(map(str, found))
        with theirs:
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                cwd=root,
                env={**os.environ, **environment},
                pass_fds=[theirs.fileno()],
                stdout=self.log,
                stderr=self.log,
            )

    def ask(self, command, *arguments):
        """Send a command and return its answer; raise `Refused` if there is none."""
        try:
            self.connection.send((command, *arguments))
            if not self.connection.poll(PATIENCE):
                raise Refused(f"no answer to {command!r} in {PATIENCE:.0f} seconds")
            said, answer = self.connection.recv()
        except (EOFError, OSError):
            raise Refused(self._end()) from None
        if said == "refused":
            raise Refused(answer)
        return answer

    def _end(self):
        code = self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").splitlines()
        return f"its process ended with code {code}: {' / '.join(lines[-3:])}"

    def close(self):
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        self.log.close()
