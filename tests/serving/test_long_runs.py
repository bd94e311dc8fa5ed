"""A server that runs for long: memory, load, floods of connections and of errors."""

import asyncio
import contextlib
import gc
import json
import logging
import os
import resource
import time

import pytest

from benchmarks import serving_load
from keras_seqattn.serving import connections, log_rate, memory, predictor, service
from keras_seqattn.serving.log_rate import LogRate
from tests.serving.client import read_all, until
from tests.serving.servers import serving


def test_it_is_given_back_after_large_requests_only(odd, monkeypatch):
    calls = []
    monkeypatch.setattr(predictor, "give_back", lambda: calls.append(time.monotonic()))
    monkeypatch.setattr(service, "TIDY", 0.05)
    with serving(odd) as client:
        client.ask(instances=[1.0])
        time.sleep(0.3)
        assert not calls
        wait = odd.signatures["wait"]
        monkeypatch.setattr(wait, "lengths", lambda inputs: (999, 999))
        client.ask(signature_name="wait", inputs=[0.0])
        until(lambda: calls)
        time.sleep(0.3)
        assert len(calls) == 1


def test_garbage_collection_is_quick_and_a_setting_of_the_user_stays(monkeypatch):
    gc.unfreeze()
    assert len(gc.get_objects()) > 100_000
    memory.keep_loaded_objects()
    assert len(gc.get_objects()) < 10_000  # that a collection looks at
    assert gc.get_freeze_count() > 100_000
    monkeypatch.setitem(os.environ, "TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "0")
    memory.use_system_allocator()
    assert os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] == "0"
    memory.give_back()  # works on every system


def test_few_lines(monkeypatch, caplog):
    seconds = [100.0]
    monkeypatch.setattr(log_rate.time, "monotonic", lambda: seconds[0])
    rate = LogRate(lines=3, seconds=2.0)
    monkeypatch.setattr(caplog.handler, "filters", [rate])
    caplog.set_level(logging.INFO)
    log = logging.getLogger("tests.log_rate")
    for number in range(1000):
        log.error("error %d", number)
        log.info("asked for")
    asked, errors = ["asked for"] * 1000, ["error 0", "error 1", "error 2"]
    assert sorted(caplog.messages) == asked + errors
    seconds[0] += 2.0
    caplog.clear()
    log.warning("%s more", "one")
    log.warning("another")
    earlier = "earlier warnings or errors were not logged"
    assert caplog.messages == [f"one more (997 {earlier})"]
    rate.report(log)  # there is no room for a line yet
    seconds[0] += 60.0
    rate.report(log)
    rate.report(log)
    assert caplog.messages[1:] == [f"1 {earlier}"]


@pytest.mark.system
def test_many_clients(process):
    texts = serving_load.some_texts()[:20]
    address = f"http://127.0.0.1:{process.client.port}"
    load = asyncio.run(serving_load.measure(address, 64, 1.0, texts))
    lines = list(load.report())
    # Memory is for the whole minute: a server that has just begun still grows.
    assert load.latencies and not load.errors, lines
    assert load.rows > 4 and lines[0] == "64 clients, 1 s"


TOO_MANY = (
    "The server has too many connections. Expected at most 4, received one more. Try "
    "again in a second, or start the server with a larger --max-connections."
)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@contextlib.contextmanager
def opened(client, count):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(client.connect()) for _ in range(count)]


def answers(client):
    """Whether there is room for a request; then its answer is right."""
    reply = client.send(1, instances=[1])
    assert reply.status == 503 or reply.json == {"predictions": [0.5]}
    return reply.status == 200


def test_one_connection_too_many(odd):
    with serving(odd, max_connections=4) as client:
        with opened(client, 4):
            reply = client.send(instances=[1])
            assert (reply.status, reply.error) == (503, TOO_MANY)
            about = [reply.headers[name] for name in ("Connection", "Retry-After")]
            assert about == ["close", "1"]
            with client.connect() as silent:
                head, body = read_all(silent)
            assert head.startswith("HTTP/1.1 503 ")
            assert json.loads(body) == {"error": TOO_MANY}
            assert client.request("GET", "/healthz").json == {"status": "ok"}
        until(lambda: answers(client))


def test_half_open_connections_end(odd):
    with serving(odd, max_connections=4, timeout=0.5) as client:
        with opened(client, 4) as silent:
            silent[0].sendall(HEALTH)
            assert [connection.recv(100) for connection in silent] == [b""] * 4
            until(lambda: answers(client))


def test_a_connection_that_has_asked_stays(odd):
    with serving(odd, timeout=1.0) as client, client.connect() as connection:
        for pause in (1.3, 0):
            connection.sendall(HEALTH + b"\r\n")
            assert connection.recv(10_000).startswith(b"HTTP/1.1 200 OK\r\n")
            time.sleep(pause)


FILES = [(resource.RLIM_INFINITY, 512), (1024, 512), (500, 372), (129, 1), (20, 1)]


@pytest.mark.parametrize("files, most", FILES)
def test_fewer_than_files(monkeypatch, caplog, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (files, 9_999))
    assert connections.connection_limit(512) == most
    warning = (
        f"{most} connections at most, not 512: this process may have {files} files "
        "open. Raise it with ulimit -n, or lower --max-connections"
    )
    assert caplog.messages == ([] if most == 512 else [warning])


@pytest.mark.system
def test_a_flood_of_a_process_with_few_files(process):
    """`accept` never fails, others get their answers in order, the log stays short."""
    process.wait_for("WARNING 72 connections at most, not 512: this process may have")
    before = len(process.said().splitlines())
    with opened(process.client, 300):
        time.sleep(1.5)
        assert process.client.request("GET", "/healthz").json == {"status": "ok"}
    until(lambda: answers(process.client))
    assert len(process.said().splitlines()) - before < 60, process.said()
    assert "Too many open files" not in process.said()
