"""`Service`: the paths of TensorFlow Serving's REST API, and its metrics."""

import asyncio
import contextlib
import json

import prometheus_client as prometheus
from aiohttp import web

from keras_seqattn.serving.header_checks import check_host
from keras_seqattn.serving.http_errors import http_error
from keras_seqattn.serving.predictor import Predictor
from keras_seqattn.serving.responses import (
    json_bytes_response,
    json_response,
    response_middleware,
)

MODEL = "/v1/models/{name:[^/:]+}"
VERSION = MODEL + r"/versions/{version:\d{1,18}}"  # int() refuses 4301 digits
HEALTH = "/healthz"
METRICS = "/monitoring/prometheus/metrics"  # the path of TensorFlow Serving
TIDY = 5.0  # seconds between two calls of `tidy`
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = [2**n for n in range(11)]


class Service:
    """One or more versions of a model.

    Args:
        name: name of the model.
        models: dict from numbers to `ServedModel`s.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
        hosts: host names that the server serves; if empty, all.
        tidy: function that is called every few seconds.
    """

    def __init__(
        self, name, models, limits, log_requests=False, hosts=(), tidy=lambda: None
    ):
        self.name, self.models, self.limits = name, models, limits
        self.metrics = Metrics()
        self.is_draining = False
        self._predictor = Predictor(limits, self.metrics)
        self._hosts = [host.lower() for host in hosts]
        self._log_requests, self._tidy = log_requests, tidy
        self._running = set()

    def application(self):
        """Return the application of aiohttp."""
        app = web.Application(
            middlewares=[
                response_middleware(
                    self.metrics.request, self._log_requests, self._admit
                )
            ],
            client_max_size=self.limits.max_body,
        )
        app.cleanup_ctx.append(self._run)
        app.on_response_prepare.append(self._announce_close)
        for path in (MODEL, VERSION):
            app.router.add_post(f"{path}:predict", self._predict)
            app.router.add_get(path, self._status)
            app.router.add_get(f"{path}/metadata", self._metadata)
        app.router.add_get(HEALTH, self._health)
        app.router.add_get(METRICS, self._metrics)
        return app

    def health(self):
        """Return the status and the body of /healthz."""
        status, word = (503, "draining") if self.is_draining else (200, "ok")
        return status, json.dumps({"status": word}).encode()

    async def drain(self, seconds):
        """Wait for the running requests, at most this many seconds.

        New requests still get answers. Every answer closes its connection.
        """
        self.is_draining = True
        if running := {task for task in self._running if not task.done()}:
            await asyncio.wait(running, timeout=seconds)

    async def _run(self, app):
        async with self._predictor.running():
            tidying = asyncio.create_task(self._tidy_up())
            yield
            tidying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await tidying

    async def _tidy_up(self):
        while True:
            await asyncio.sleep(TIDY)
            await self._predictor.give_memory_back()
            self._tidy()

    def _admit(self, request):
        """Refuse a wrong host. `drain` waits for all other requests."""
        if request.path != HEALTH:
            check_host(request, self._hosts)
        task = asyncio.current_task()
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _announce_close(self, request, response):
        if self.is_draining:
            response.force_close()
            response.headers["Connection"] = "close"

    # The paths ----------------------------------------------------------------------

    async def _predict(self, request):
        _, model = self._model(request)
        return await self._predictor.answer(request, model.signatures)

    async def _status(self, request):
        number, _ = self._model(request)
        numbers = [number] if "version" in request.match_info else self.models
        ok = {"error_code": "OK", "error_message": ""}
        versions = [
            {"version": str(version), "state": "AVAILABLE", "status": ok}
            for version in sorted(numbers, reverse=True)
        ]
        return json_response({"model_version_status": versions})

    async def _metadata(self, request):
        number, model = self._model(request)
        spec = {"name": self.name, "signature_name": "", "version": str(number)}
        definitions = {"signature_def": {"signature_def": model.metadata}}
        return json_response({"model_spec": spec, "metadata": definitions})

    async def _health(self, request):
        status, body = self.health()
        return json_bytes_response(body, status)

    async def _metrics(self, request):
        return web.Response(body=self.metrics.page(), headers=self.metrics.headers)

    def _model(self, request):
        """Return the version and the model of a request; the default is the highest."""
        name = request.match_info["name"]
        number = int(request.match_info.get("version", max(self.models)))
        if name == self.name and number in self.models:
            return number, self.models[number]
        raise http_error(
            404,
            "The server does not have this model",
            f"{self.name!r}, version {' or '.join(map(str, sorted(self.models)))}",
            f"{name!r}, version {number}",
            "Check the URL",
        )


class Metrics:
    """Counters of one server, and of its process: memory, CPU seconds, open files."""

    headers = {"Content-Type": prometheus.CONTENT_TYPE_LATEST}

    def __init__(self):
        self.registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self.registry)
        self._requests = self._metric(
            prometheus.Counter,
            "seqattn_requests",
            "Requests by endpoint and HTTP status",
            ["endpoint", "code"],
        )
        self._seconds = self._metric(
            prometheus.Histogram,
            "seqattn_request_seconds",
            "Seconds from the headers of a request to its answer",
            ["endpoint"],
            buckets=SECONDS,
        )
        self._batches = self._metric(
            prometheus.Histogram,
            "seqattn_batch_rows",
            "Rows in one batch",
            ["signature"],
            buckets=ROWS,
        )
        self._waiting = self._metric(
            prometheus.Gauge, "seqattn_waiting_rows", "Rows in the queue", ["lane"]
        )

    def _metric(self, metric_class, name, documentation, labels, **options):
        return metric_class(
            name, documentation, labels, registry=self.registry, **options
        )

    def request(self, endpoint, code, seconds):
        """Count a request."""
        self._requests.labels(endpoint, str(code)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def batch(self, signature, rows):
        """Count a batch."""
        self._batches.labels(signature.name).observe(rows)

    def watch(self, name, queue):
        """Report the number of waiting rows of a `BatchQueue`."""
        self._waiting.labels(name).set_function(lambda: queue.rows)

    def page(self):
        """Return all metrics in Prometheus's text format, bytes."""
        return prometheus.generate_latest(self.registry)
