"""The paths of TensorFlow Serving's REST API."""

import asyncio
import contextlib
import json

from aiohttp import web

from keras_seqattn.serving.answers import always_answered, json_answer, json_response
from keras_seqattn.serving.heads import check_host
from keras_seqattn.serving.metrics import Metrics
from keras_seqattn.serving.predictor import Predictor
from keras_seqattn.serving.refused import Refused, four_parts

MODEL = "/v1/models/{name:[^/:]+}"
VERSION = MODEL + r"/versions/{version:\d{1,18}}"  # int() refuses thousands
HEALTH = "/healthz"
METRICS = "/monitoring/prometheus/metrics"  # where TensorFlow Serving has them
TIDY = 5.0  # seconds between two looks at memory and log


class Service:
    """Some versions of a model.

    Args:
        name: of the model.
        models: dict from numbers to `ServedModel`s.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
        hosts: names that the server answers to; none: any.
        tidy: called every few seconds.
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
        """For a runner of aiohttp."""
        app = web.Application(
            middlewares=[
                always_answered(self.metrics.request, self._log_requests, self._admit)
            ],
            client_max_size=self.limits.max_body,
        )
        app.cleanup_ctx.append(self._run)
        app.on_response_prepare.append(self._say_that_it_ends)
        for path in (MODEL, VERSION):
            app.router.add_post(f"{path}:predict", self._predict)
            app.router.add_get(path, self._status)
            app.router.add_get(f"{path}/metadata", self._metadata)
        app.router.add_get(HEALTH, self._health)
        app.router.add_get(METRICS, self._metrics)
        return app

    def health(self):
        """Status and body of /healthz."""
        status, word = (503, "draining") if self.is_draining else (200, "ok")
        return status, json.dumps({"status": word}).encode()

    async def drain(self, seconds):
        """Waits for the requests of now, so many seconds at most.

        New ones are answered meanwhile. All answers say that their connection ends.
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
        """Refuses a wrong host; `drain` waits for the task of any other request."""
        if request.path != HEALTH:
            check_host(request, self._hosts)
        task = asyncio.current_task()
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _say_that_it_ends(self, request, response):
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
        fine = {"error_code": "OK", "error_message": ""}
        versions = [
            {"version": str(each), "state": "AVAILABLE", "status": fine}
            for each in sorted(numbers, reverse=True)
        ]
        return json_answer({"model_version_status": versions})

    async def _metadata(self, request):
        number, model = self._model(request)
        spec = {"name": self.name, "signature_name": "", "version": str(number)}
        definitions = {"signature_def": {"signature_def": model.metadata}}
        return json_answer({"model_spec": spec, "metadata": definitions})

    async def _health(self, request):
        status, body = self.health()
        return json_response(body, status)

    async def _metrics(self, request):
        return web.Response(body=self.metrics.page(), headers=self.metrics.headers)

    def _model(self, request):
        """Its version and itself; where none is named, the highest."""
        name = request.match_info["name"]
        number = int(request.match_info.get("version", max(self.models)))
        if name == self.name and number in self.models:
            return number, self.models[number]
        message = four_parts(
            "The server does not have this model",
            f"{self.name!r}, version {' or '.join(map(str, sorted(self.models)))}",
            f"{name!r}, version {number}",
            "Check the URL",
        )
        raise Refused(404, message)
