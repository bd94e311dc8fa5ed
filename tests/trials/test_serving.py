"""Ten minutes under load, with 5 % hostile requests.

The answers of 64 clients are compared with those that a text has alone. The server has
two cores or fewer, and shares them with the load.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import numpy as np
import pytest

from benchmarks import serving_load
from tests.serving.client import METRICS
from tests.serving.servers import ROOT, Process
from tests.trials import hostile

SECONDS = float(os.environ.get("KERAS_SEQATTN_TRIAL_SECONDS", 600))
CLIENTS, SHARE = 64, 0.05
WORST = 0.5  # seconds that /healthz may take
GROWTH = 10.0  # per cent of memory
REST = 12.0  # seconds without requests, before memory is measured


@pytest.mark.trial
@pytest.mark.timeout(SECONDS + 300)
def test_hostile_clients(tmp_path):
    model = Path(os.environ.get("KERAS_SEQATTN_TRIAL_MODEL", tmp_path / "1"))
    if not model.exists():
        serving_load.write_model(str(model))
    server = Process(model, tmp_path / "log", "--port", "0", log_requests=False)
    try:
        with prober(server.client.port) as health:
            trial = Trial(server.client.port)
            asyncio.run(trial.run(SECONDS))
        answered = health()
        said = server.said()
        lines = report(trial, answered, said)
        print(*lines, sep="\n")
        assert server.stop() == 0
    finally:
        server.kill()
    assert not trial.wrong and not trial.lost and trial.good, lines
    assert not answered["errors"] and answered["worst"] <= WORST, lines
    assert trial.growth <= GROWTH, lines
    assert trial.failures == 0, lines  # answers with status 500
    assert len(said.splitlines()) < 100 + 20 * SECONDS, lines  # with tracebacks


class Trial:
    def __init__(self, port):
        self.port, self.address = port, f"http://127.0.0.1:{port}"
        self.good, self.wrong, self.lost, self.attacks = 0, [], [], {}
        self.warm = self.end = self.failures = 0
        self.is_hostile = False

    @property
    def growth(self):
        return 100 * (self.end / self.warm - 1)

    async def run(self, seconds):
        """Clients without hostile requests until memory is warm, then with them."""
        url = f"{self.address}/v1/models/m:predict"
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            texts = serving_load.some_texts()
            expected = {t: await serving_load.ask(session, url, t) for t in texts}
            end = time.monotonic() + seconds
            async with asyncio.TaskGroup() as group:
                for number in range(CLIENTS):
                    group.create_task(self.client(session, url, expected, end, number))
                await asyncio.sleep(min(60.0, seconds / 6))
                self.warm, _ = await self.metrics(session)
                self.is_hostile = True
            await asyncio.sleep(REST)
            self.end, self.failures = await self.metrics(session)

    async def client(self, session, url, expected, end, number):
        """One of them; a hostile request does not make it wait."""
        random, texts = np.random.default_rng(number), list(expected)
        names = list(hostile.KINDS)
        async with asyncio.TaskGroup() as group:
            while time.monotonic() < end:
                if self.is_hostile and random.random() < SHARE:
                    name = names[random.integers(len(names))]
                    group.create_task(self.attack(name))
                    self.attacks[name] = self.attacks.get(name, 0) + 1
                text = texts[random.integers(len(texts))]
                try:
                    found = await serving_load.ask(session, url, text)
                except (aiohttp.ClientError, OSError) as error:
                    self.lost.append(repr(error)[:300])
                    continue
                self.good += 1
                if found != expected[text]:
                    self.wrong.append((text, found))

    async def attack(self, name):
        with contextlib.suppress(OSError):
            await hostile.KINDS[name](self.port)

    async def metrics(self, session):
        """Bytes of memory, and answers with status 500."""
        async with session.get(f"{self.address}{METRICS}") as reply:
            text = await reply.text()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#"]
        failures = [float(n) for x, n in lines if 'requests_total{code="500"' in x]
        [memory] = [float(n) for x, n in lines if "resident_memory" in x]
        return memory, sum(failures)


@contextlib.contextmanager
def prober(port):
    """Yields a function that returns what /healthz did, once the block has ended."""
    command = [sys.executable, "-m", "tests.trials.prober", str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, **pipes)
    found = []
    try:
        yield lambda: json.loads(found[0])
        found.append(process.communicate("end\n", 60)[0])
    finally:
        process.kill()
        process.wait()


def report(trial, answered, said):
    attacks = sum(trial.attacks.values())
    return [
        f"{CLIENTS} clients, {SECONDS:g} s: {trial.good} good, "
        f"{len(trial.wrong)} wrong, {len(trial.lost)} lost, {attacks} hostile of "
        f"{len(trial.attacks)} kinds",
        f"/healthz: {1000 * answered['worst']:.0f} ms at worst of {answered['count']}",
        f"memory: {trial.warm / 1e6:.0f} MB warm, {trial.end / 1e6:.0f} MB at the end, "
        f"{trial.growth:.1f} % more",
        f"log: {len(said.splitlines())} lines; status 500: {trial.failures:.0f}",
        *(f"lost: {error}" for error in sorted(set(trial.lost))[:5]),
        *(f"wrong: {wrong}" for wrong in trial.wrong[:5]),
        *(f"/healthz: {error}" for error in answered["errors"]),
    ]
