"""A client that knows HTTP, and nothing of this library."""

import contextlib
import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

METRICS = "/monitoring/prometheus/metrics"


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        """The content of strict JSON, which knows no NaN."""
        assert self.headers["Content-Type"].startswith("application/json")
        return json.loads(self.body, parse_constant=no_json)

    @property
    def error(self):
        """The message; the body holds nothing else, and nothing from inside."""
        [(key, message)] = self.json.items()
        assert key == "error"
        for inside in ("Traceback", 'File "', ".py", "keras_seqattn", "a secret"):
            assert inside not in message, message
        return message


def no_json(constant):
    raise AssertionError(f"{constant} is no JSON")


class Client:
    """A client of a server on this machine, whose model is called m."""

    def __init__(self, port):
        self.port = port

    def request(self, method, path, body=None, headers=None):
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(made) as connection:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read())

    def get(self, path=""):
        return self.request("GET", f"/v1/models/m{path}")

    def post(self, body, version=None, headers=None):
        headers = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", self.path(version), body, headers)

    def send(self, version=None, **asked):
        return self.post(json.dumps(asked).encode(), version)

    def ask(self, version=None, **asked):
        reply = self.send(version, **asked)
        assert reply.status == 200, reply.body
        return reply.json

    def refused(self, version=None, status=400, **asked):
        reply = self.send(version, **asked)
        assert reply.status == status, reply.body
        return reply.error

    def path(self, version=None):
        versions = "" if version is None else f"/versions/{version}"
        return f"/v1/models/m{versions}:predict"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 60)

    def begin(self, body, size=None, protocol="HTTP/1.1"):
        """A connection that has sent a request, and has not read the answer."""
        connection = self.connect()
        head = f"POST {self.path()} {protocol}\r\nHost: x\r\nContent-Type: "
        head += f"application/json\r\nContent-Length: {size or len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection

    def begin_to_ask(self, **asked):
        return self.begin(json.dumps(asked).encode())

    def metrics(self):
        """By name and labels: `{("seqattn_waiting_rows", ("long",)): 0.0}`."""
        text = self.request("GET", METRICS).body.decode()
        return {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def batches(self, signature="serving_default"):
        found = self.metrics()
        names = "seqattn_batch_rows_count", "seqattn_batch_rows_sum"
        return tuple(found.get((name, (signature,)), 0) for name in names)

    def waiting(self):
        return self.metrics()["seqattn_waiting_rows", ("short",)]


def read_all(connection):
    """The head and the body of an answer, once the server has closed the connection."""
    with connection.makefile("rb") as stream:
        head, _, body = stream.read().partition(b"\r\n\r\n")
    return head.decode(), body


def at_once(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(lambda call: call(), calls))


def until(condition, seconds=60):
    """Return what the condition returns, once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
