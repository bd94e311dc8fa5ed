"""How a server ends, and what becomes of those who wait for an answer."""

import contextlib
import signal
import threading
import time

import pytest

from tests.serving.process import Process

pytestmark = [pytest.mark.system, pytest.mark.slow]


class Waiting(threading.Thread):
    """A client whose request takes some seconds; it is being computed."""

    def __init__(self, client, seconds):
        super().__init__()
        self.client, self.seconds = client, seconds
        self.answer = self.error = None
        running = ("seqattn_batch_rows_count", ("wait",))
        before = client.metrics().get(running, 0)
        self.start()
        while client.metrics().get(running, 0) == before:
            time.sleep(0.02)

    def run(self):
        try:
            asked = {"signature_name": "wait", "inputs": [self.seconds]}
            self.answer = self.client.ask(**asked)
        except OSError as error:
            self.error = error


@contextlib.contextmanager
def started(served, tmp_path, port=0):
    """A server of the odd model, which starts quickly."""
    server = Process(served / "1", tmp_path / f"{port}.log", "--port", str(port))
    try:
        yield server
    finally:
        server.kill()


def test_killed_restarted_and_stopped(served, tmp_path):
    with started(served, tmp_path) as server:
        waiting = Waiting(server.client, 30.0)
        server.kill()
        waiting.join()
        assert isinstance(waiting.error, ConnectionError)
    with started(served, tmp_path, server.client.port) as server:
        assert server.client.ask(instances=[3]) == {"predictions": [1.5]}
        waiting = Waiting(server.client, 2.0)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping: ")
        with pytest.raises(ConnectionRefusedError):
            server.client.ask(instances=[3])
        waiting.join()
        assert waiting.answer == {"outputs": [2.0]}
        assert server.process.wait(60) == 0
        assert "Traceback" not in server.said()


def test_a_second_signal_ends_at_once(served, tmp_path):
    with started(served, tmp_path) as server:
        waiting = Waiting(server.client, 20.0)
        server.process.send_signal(signal.SIGINT)
        server.wait_for("stopping: ")
        start = time.monotonic()
        assert server.stop(signal.SIGINT) == -signal.SIGINT
        assert time.monotonic() - start < 10
        waiting.join()
        assert isinstance(waiting.error, ConnectionError)
