"""`seqattn serve` in a process of its own."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.serving.client import Client

ROOT = Path(__file__).parents[2]
SERVING = re.compile(r"serving version .* at http://127\.0\.0\.1:(\d+)/v1/models/m\n")


class Process:
    """A server.

    Args:
        folder: of the model.
        log: file for what it says.
        options: of the command.
        log_requests: whether it logs each request.
    """

    def __init__(self, folder, log, *options, log_requests=True):
        command = [sys.executable, "-m", "seqattn_command", "serve", str(folder)]
        command += ["--name", "m", "--versions", "all", *options]
        command += ["--log-requests"] * log_requests
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(command, stderr=file, cwd=ROOT)
        try:
            self.client = Client(int(self.wait_for(SERVING)[1]), "m")
        except BaseException:
            self.kill()
            raise

    def wait_for(self, pattern, seconds=120):
        """Until the log has it; the match."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := re.search(pattern, self.said()):
                return found
            assert self.process.poll() is None, self.said()
            time.sleep(0.05)
        raise AssertionError(f"no {pattern!r} in {self.said()}")

    def said(self):
        return self.log.read_text()

    def stop(self, number=signal.SIGTERM):
        """Asks it to end; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(120)

    def kill(self):
        self.process.kill()
        self.process.wait()
