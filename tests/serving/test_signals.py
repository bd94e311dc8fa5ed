"""How a server ends, and what becomes of those who wait for an answer."""

import contextlib
import signal
import socket
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
        waiting.join()
        assert waiting.answer == {"outputs": [2.0]}
        assert server.process.wait(60) == 0
        assert "Traceback" not in server.said()


def test_draining(served, tmp_path):
    """Until earlier requests are answered, new ones are, and /healthz warns."""
    with started(served, tmp_path) as server:
        client = server.client
        with socket.create_connection(("127.0.0.1", client.port), 60) as kept:
            ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
            kept.sendall(ask)
            assert kept.recv(10_000).startswith(b"HTTP/1.1 200 ")
            waiting = Waiting(client, 3.0)
            server.process.send_signal(signal.SIGTERM)
            server.wait_for("stopping: ")
            kept.sendall(ask)
            said = kept.recv(10_000)
            assert said.startswith(b"HTTP/1.1 503 ")
            assert said.endswith(b'{"status": "draining"}')
            assert b"\r\nConnection: close\r\n" in said and kept.recv(1) == b""
        reply = client.request("GET", "/healthz")
        assert (reply.status, reply.json) == (503, {"status": "draining"})
        for path in ("", "/metadata", "/nothing"):
            assert client.get(path).headers["Connection"] == "close"
        reply = client.post(b'{"inputs": [1], "signature_name": "logarithm"}')
        assert reply.json == {"outputs": [0.0]}
        assert reply.headers["Connection"] == "close"
        start = time.monotonic()
        waiting.join()
        assert waiting.answer == {"outputs": [3.0]}
        assert server.process.wait(60) == 0 and time.monotonic() - start < 30


def test_nothing_to_drain(served, tmp_path):
    """Idle connections do not keep a server from ending."""
    with started(served, tmp_path) as server:
        address = "127.0.0.1", server.client.port
        with socket.create_connection(address), socket.create_connection(address) as c:
            c.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert c.recv(10_000)
            start = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - start < 10


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
