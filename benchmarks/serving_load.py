"""`python -m benchmarks.serving_load`: `seqattn serve` under many clients at once.

Each client sends one text after the other over loopback and compares every answer with
the answer of a single request. The output has errors, requests in a second, latency and
the growth of the server's memory; it fails on an error or on growth. Clients and server
share the machine, so times are those of both.
"""

import argparse
import asyncio
import contextlib
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import aiohttp
import numpy as np
from prometheus_client.parser import text_string_to_metric_families

SERVING = re.compile(r"serving version .* at (http://127\.0\.0\.1:\d+)/v1/models/m")
GROWTH = 10.0  # per cent, at most
SETTLED = 10.0  # seconds until memory is measured first; a sixth of shorter runs
TEXTS = 200


@dataclass
class Load:
    """The measurements of one load test."""

    clients: int
    seconds: float
    latencies: list = field(default_factory=list)  # seconds
    errors: list = field(default_factory=list)
    memory: list = field(default_factory=list)  # bytes, once settled and at the end
    rows: float = 0.0  # in a batch, on average

    @property
    def growth(self):
        """Return the growth of memory in per cent."""
        settled, end = self.memory
        return 100 * (end / settled - 1)

    def report(self):
        """Return the lines of a report."""
        p50, p99 = 1000 * np.percentile(self.latencies or [np.nan], [50, 99])
        rate = len(self.latencies) / self.seconds
        settled, end = (size / 1e6 for size in self.memory)
        yield f"{self.clients} clients, {self.seconds:g} s"
        yield f"  requests   {len(self.latencies):9}, {rate:.0f} in a second"
        yield f"  errors     {len(self.errors):9}, at most 0"
        yield f"  p50        {p50:9.1f} ms"
        yield f"  p99        {p99:9.1f} ms"
        yield f"  batch      {self.rows:9.1f} texts on average"
        yield (
            f"  memory     {self.growth:9.1f} % more, at most {GROWTH:.0f} %: "
            f"{settled:.0f} MB, then {end:.0f} MB"
        )
        yield from (f"  error: {error}" for error in sorted(set(self.errors))[:5])

    @property
    def is_good(self):
        return bool(self.latencies) and not self.errors and self.growth < GROWTH


async def measure(address, clients, seconds, texts):
    """Send requests to a server from many clients.

    Args:
        address: of the server, `http://127.0.0.1:8501`; its model is called m.
        clients: how many ask at once.
        seconds: how long.
        texts: list of strings to ask for.
    """
    load = Load(clients, seconds)
    url = f"{address}/v1/models/m:predict"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        expected = {text: await ask(session, url, text) for text in texts}
        before = await metrics(session, address)
        end = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                random = np.random.default_rng(number)
                group.create_task(client(session, url, expected, end, random, load))
            await asyncio.sleep(min(SETTLED, seconds / 6))
            settled = await metrics(session, address)
        after = await metrics(session, address)
    name = "process_resident_memory_bytes"
    load.memory = [settled[name], after[name]]
    rows, batches = (
        after[name] - before[name]
        for name in ("seqattn_batch_rows_sum", "seqattn_batch_rows_count")
    )
    load.rows = rows / max(batches, 1)
    return load


async def client(session, url, expected, end, random, load):
    """Send requests as one client until the end."""
    texts = list(expected)
    while time.monotonic() < end:
        text = texts[random.integers(len(texts))]
        start = time.monotonic()
        try:
            found = await ask(session, url, text)
        except (aiohttp.ClientError, OSError) as error:
            load.errors.append(repr(error))
            continue
        load.latencies.append(time.monotonic() - start)
        if found != expected[text]:
            load.errors.append(f"{text!r}: {found!r} instead of {expected[text]!r}")


async def ask(session, url, text):
    """Return the translation of a text."""
    async with session.post(url, json={"instances": [text]}) as reply:
        if reply.status != 200:
            raise aiohttp.ClientError(f"{reply.status} {await reply.text()}")
        [answer] = (await reply.json())["predictions"]
        return answer["text"]


async def metrics(session, address):
    """Return metrics by name, summed over labels."""
    async with session.get(f"{address}/monitoring/prometheus/metrics") as reply:
        text = await reply.text()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def some_texts():
    """Return random texts of one to twelve words."""
    random = np.random.default_rng(1409)

    def word():
        letters = random.choice([*"abcdefghijklmnopqrstuvwxyz"], random.integers(2, 8))
        return "".join(letters)

    sizes = random.integers(1, 13, TEXTS)
    return [" ".join(word() for _ in range(size)) for size in sizes]


@contextlib.contextmanager
def server(folder):
    """Start `seqattn serve` and yield its address."""
    command = [sys.executable, "-m", "seqattn_command", "serve", folder]
    process = subprocess.Popen(
        [*command, "--name", "m", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        found = None
        while found is None:
            line = process.stderr.readline()
            if not line:
                raise RuntimeError("The server ended. Start it by hand to see why.")
            found = SERVING.search(line)
        yield found[1]
    finally:
        process.terminate()
        process.communicate()


def write_model(folder):
    """Export a small `zoo.bahdanau2015` with random weights."""
    import keras_seqattn as ks
    from keras_seqattn import zoo

    text = ks.text.Characters.learn(["abcdefghijklmnopqrstuvwxyz "])
    model = zoo.bahdanau2015(
        "small",
        source_vocabulary=text.vocabulary_size,
        target_vocabulary=text.vocabulary_size,
    )
    random = np.random.default_rng(1409)
    model.set_weights([random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    length = ks.decoding.RelativeLength(1.0, plus=3)
    ks.Translator(model, text, text, max_length=length).export(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--model", metavar="FOLDER", help="of seqattn export")
    parser.add_argument("--texts", metavar="FILE", help="a text in each line")
    parsed = parser.parse_args()
    texts = some_texts()
    if parsed.texts:
        with open(parsed.texts, encoding="utf-8") as file:
            texts = file.read().splitlines()[:TEXTS]
    with tempfile.TemporaryDirectory() as folder:
        if parsed.model is None:
            write_model(f"{folder}/model")
        with server(parsed.model or f"{folder}/model") as address:
            load = asyncio.run(measure(address, parsed.clients, parsed.seconds, texts))
    print(*load.report(), sep="\n")
    return 0 if load.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
