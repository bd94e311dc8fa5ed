"""The benchmark's load, three seconds of it."""

import asyncio

import pytest

from benchmarks import serving_load


@pytest.mark.system
def test_many_clients(process):
    texts = serving_load.some_texts()[:40]
    address = f"http://127.0.0.1:{process.client.port}"
    load = asyncio.run(serving_load.measure(address, 64, 3.0, texts))
    lines = list(load.report())
    # Memory is for the whole minute: a server that has just begun still grows.
    assert load.latencies and not load.errors, lines
    assert load.rows > 4 and lines[0] == "64 clients, 3 s"
