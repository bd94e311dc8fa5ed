"""How a server ends, and what becomes of those who wait for an answer."""

import contextlib
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.serving.client import until
from tests.serving.servers import Process

pytestmark = [pytest.mark.system, pytest.mark.slow]
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def begin_to_wait(client, seconds):
    """The future of a request that takes some seconds; it is being computed."""
    asked = {"signature_name": "wait", "inputs": [seconds]}
    future = ThreadPoolExecutor(1).submit(client.ask, **asked)
    until(lambda: client.batches("wait") == (1, 1))
    return future


@contextlib.contextmanager
def started(served, tmp_path, port=0):
    """A server of the odd model, which starts quickly."""
    server = Process(served / "1", tmp_path / f"{port}.log", "--port", str(port))
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def server(served, tmp_path):
    with started(served, tmp_path) as server:
        yield server


def test_killed_and_restarted(server, served, tmp_path):
    waiting = begin_to_wait(server.client, 30.0)
    server.kill()
    assert isinstance(waiting.exception(), ConnectionError)
    with started(served, tmp_path, server.client.port) as restarted:
        assert restarted.client.ask(instances=[3]) == {"predictions": [1.5]}


def test_draining(server):
    """Until earlier requests are answered, new ones are, and /healthz warns."""
    client = server.client
    with client.connect() as kept:
        kept.sendall(HEALTH)
        assert kept.recv(10_000).startswith(b"HTTP/1.1 200 ")
        waiting = begin_to_wait(client, 3.0)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping: ")
        kept.sendall(HEALTH)
        said = kept.recv(10_000)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert said.endswith(b'{"status": "draining"}')
        assert b"\r\nConnection: close\r\n" in said and kept.recv(1) == b""
    reply = client.request("GET", "/healthz")
    assert (reply.status, reply.json) == (503, {"status": "draining"})
    for path in ("", "/metadata", "/nothing"):
        assert client.get(path).headers["Connection"] == "close"
    reply = client.send(signature_name="logarithm", inputs=[1])
    assert reply.json == {"outputs": [0.0]}
    assert reply.headers["Connection"] == "close"
    start = time.monotonic()
    assert waiting.result() == {"outputs": [3.0]}
    assert server.process.wait(60) == 0 and time.monotonic() - start < 30
    assert "Traceback" not in server.said()


def test_nothing_to_drain(server):
    with server.client.connect(), server.client.connect() as connection:
        connection.sendall(HEALTH)
        assert connection.recv(10_000)
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 10


def test_a_second_signal_ends_at_once(server):
    waiting = begin_to_wait(server.client, 20.0)
    server.process.send_signal(signal.SIGINT)
    server.wait_for("stopping: ")
    start = time.monotonic()
    assert server.stop(signal.SIGINT) == -signal.SIGINT
    assert time.monotonic() - start < 10
    assert isinstance(waiting.exception(), ConnectionError)
