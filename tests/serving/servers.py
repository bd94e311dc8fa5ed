"""Servers: `seqattn serve` in a process, and one in a thread with limits of its own."""

import asyncio
import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from keras_seqattn.serving import server
from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.service import Service
from tests.serving.client import Client, until

ROOT = Path(__file__).parents[2]
SERVING = re.compile(r"serving version .* at http://127\.0\.0\.1:(\d+)/v1/models/m\n")


class Process:
    """A server of a folder, with options of the command."""

    def __init__(self, folder, log, *options, log_requests=True):
        command = [sys.executable, "-m", "seqattn_command", "serve", str(folder)]
        command += ["--name", "m", "--versions", "all", *options]
        command += ["--log-requests"] * log_requests
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(command, stderr=file, cwd=ROOT)
        try:
            self.client = Client(int(self.wait_for(SERVING)[1]))
        except BaseException:
            self.kill()
            raise

    def wait_for(self, pattern):
        def found():
            assert self.process.poll() is None, self.said()
            return re.search(pattern, self.said())

        return until(found, seconds=120)

    def said(self):
        return self.log.read_text()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(120)

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(model, hosts=(), **limits):
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait_for(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)

    try:
        service = Service("m", {1: model}, Limits(**limits), hosts=hosts)
        listener = socket.create_server(("127.0.0.1", 0))
        runner, listening = wait_for(_start(service, listener))
        try:
            yield Client(listener.getsockname()[1])
        finally:
            loop.call_soon_threadsafe(listening.close)
            wait_for(runner.cleanup())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(service, listener):
    runner = server.make_runner(service)
    await runner.setup()
    return runner, await server.listen(service, runner, listener)
