"""Asks as a stranger would: HTTP, and nothing of this library."""

import http.client
import json
from typing import NamedTuple

METRICS = "/monitoring/prometheus/metrics"


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        """Of strict JSON, which knows no NaN."""
        assert self.headers["Content-Type"].startswith("application/json")
        return json.loads(self.body, parse_constant=no_json)

    @property
    def error(self):
        """The message; there is nothing else, and nothing from inside."""
        [(key, message)] = self.json.items()
        assert key == "error"
        for inside in ("Traceback", 'File "', ".py", "keras_seqattn", "a secret"):
            assert inside not in message, message
        return message


def no_json(constant):
    raise AssertionError(f"{constant} is no JSON")


class Client:
    """Of a server on this machine.

    Args:
        port: of the server.
        model: name of the model.
    """

    def __init__(self, port, model):
        self.port, self.model = port, model

    def request(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def get(self, path=""):
        """Something below the model."""
        return self.request("GET", f"/v1/models/{self.model}{path}")

    def post(self, body, version=None, headers=None, **options):
        """Bytes to `:predict`."""
        headers = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", self.path(version), body, headers, **options)

    def ask(self, version=None, **asked):
        """An object to `:predict`; the answer."""
        reply = self.post(json.dumps(asked).encode(), version)
        assert reply.status == 200, reply.body
        return reply.json

    def refused(self, version=None, status=400, **asked):
        """An object to `:predict`; what it says against it."""
        reply = self.post(json.dumps(asked).encode(), version)
        assert reply.status == status, reply.body
        return reply.error

    def path(self, version=None):
        versions = "" if version is None else f"/versions/{version}"
        return f"/v1/models/{self.model}{versions}:predict"

    def metrics(self):
        """By name and labels: `{("seqattn_waiting_rows", ("long",)): 0.0}`."""
        from prometheus_client.parser import text_string_to_metric_families

        text = self.request("GET", METRICS).body.decode()
        return {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
