"""Floods of connections, and connections that send nothing."""

import contextlib
import json
import resource
import socket
import time

import pytest

from keras_seqattn.serving import connections
from tests.serving.process import Process
from tests.serving.thread import serving

TOO_MANY = (
    "The server has too many connections. Expected at most 4, received one more. Try "
    "again in a second, or start the server with a larger --max-connections."
)


@contextlib.contextmanager
def opened(port, count):
    """Connections that say nothing."""
    with contextlib.ExitStack() as stack:
        address = "127.0.0.1", port
        found = [socket.create_connection(address, 60) for _ in range(count)]
        for connection in found:
            stack.enter_context(connection)
        yield found


def read(connection):
    """All that comes."""
    with connection.makefile("rb") as stream:
        head, _, body = stream.read().partition(b"\r\n\r\n")
    return head.decode(), json.loads(body)


def test_one_connection_too_many(odd):
    with serving(odd, max_connections=4) as client:
        with opened(client.port, 4):
            reply = client.post(b'{"instances": [1]}')
            assert (reply.status, reply.error) == (503, TOO_MANY)
            assert reply.headers["Connection"] == "close"
            assert reply.headers["Retry-After"] == "1"
            with opened(client.port, 1) as [silent]:
                head, body = read(silent)
            assert head.startswith("HTTP/1.1 503 ") and body == {"error": TOO_MANY}
            assert client.request("GET", "/healthz").json == {"status": "ok"}
        wait_until_free(client)
        assert client.ask(instances=[1]) == {"predictions": [0.5]}


def test_a_flood(odd):
    """Of more than get their answer in order."""
    with serving(odd, max_connections=4, timeout=60) as client:
        with opened(client.port, 300):
            start = time.monotonic()
            time.sleep(1.5)
            assert client.request("GET", "/healthz").json == {"status": "ok"}
            assert time.monotonic() - start < 5
        wait_until_free(client)
        assert client.ask(instances=[1]) == {"predictions": [0.5]}


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"])
def test_half_open_connections_end(odd, sent):
    """They cannot lock out other clients for longer than the timeout."""
    with serving(odd, max_connections=4, timeout=3.0) as client:
        with opened(client.port, 4) as silent:
            start = time.monotonic()
            for connection in silent:
                connection.sendall(sent)
            assert client.post(b'{"instances": [1]}').status == 503
            for connection in silent:
                assert connection.recv(100) == b""
            assert time.monotonic() - start < 30
            assert client.ask(instances=[1]) == {"predictions": [0.5]}


def test_a_connection_that_has_asked_stays(odd):
    with serving(odd, timeout=2.0) as client:
        with opened(client.port, 1) as [connection]:
            for _ in range(2):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                assert connection.recv(10_000).startswith(b"HTTP/1.1 200 OK\r\n")
                time.sleep(2.5)


def wait_until_free(client):
    end = time.monotonic() + 10
    while client.post(b'{"instances": [1]}').status == 503:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("files, most", [(1024, 512), (500, 372), (129, 1), (20, 1)])
def test_fewer_than_files(monkeypatch, caplog, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (files, 9_999))
    assert connections.connection_limit(512) == most
    if most == 512:
        assert not caplog.records
    else:
        [record] = caplog.records
        assert record.getMessage() == (
            f"{most} connections at most, not 512: this process may have {files} files "
            "open. Raise it with ulimit -n, or lower --max-connections"
        )


def test_no_limit_of_files(monkeypatch):
    infinity = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda which: infinity)
    assert connections.connection_limit(512) == 512


@pytest.mark.system
def test_a_flood_of_a_process_with_few_files(served, tmp_path):
    """`accept` never fails, and the log stays short."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
    try:
        server = Process(served / "1", tmp_path / "log", "--port", "0")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    try:
        server.wait_for(
            "WARNING 72 connections at most, not 512: this process may have"
        )
        with opened(server.client.port, 300):
            time.sleep(2)
            assert server.client.request("GET", "/healthz").json == {"status": "ok"}
        wait_until_free(server.client)
        assert server.client.ask(instances=[1]) == {"predictions": [0.5]}
        assert len(server.said().splitlines()) < 60, server.said()
        assert "Too many open files" not in server.said()
    finally:
        server.kill()
