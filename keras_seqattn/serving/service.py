"""The paths of TensorFlow Serving's REST API, and what is behind them."""

import asyncio
import logging

import tensorflow as tf
from aiohttp import web

from keras_seqattn.serving import predict
from keras_seqattn.serving.answers import always_answered, json_answer
from keras_seqattn.serving.lane import Lane
from keras_seqattn.serving.metrics import Metrics
from keras_seqattn.serving.refused import Refused, bad_request, four_parts, too_much

log = logging.getLogger(__name__)
MODEL = "/v1/models/{name:[^/:]+}"
VERSION = MODEL + r"/versions/{version:\d{1,18}}"  # int() refuses thousands
METRICS = "/monitoring/prometheus/metrics"  # where TensorFlow Serving has them
LONG = 512  # bytes; a longer text is nobody's neighbour


class Service:
    """Some versions of a model.

    Args:
        name: of the model.
        models: dict from numbers to `ServedModel`s.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
    """

    def __init__(self, name, models, limits, log_requests=False):
        self.name, self.models, self.limits = name, models, limits
        self.metrics = Metrics()
        self._log_requests = log_requests
        self._lanes = {}

    def application(self):
        """For a runner of aiohttp."""
        app = web.Application(
            middlewares=[always_answered(self.metrics.request, self._log_requests)],
            client_max_size=self.limits.max_body,
        )
        app.cleanup_ctx.append(self._run_lanes)
        for path in (MODEL, VERSION):
            app.router.add_post(f"{path}:predict", self._predict)
            app.router.add_get(path, self._status)
            app.router.add_get(f"{path}/metadata", self._metadata)
        app.router.add_get("/healthz", self._health)
        app.router.add_get(METRICS, self._metrics)
        return app

    async def _run_lanes(self, app):
        for name in ("short", "long"):
            lane = Lane(self.limits, name == "short", self.metrics.batch)
            self._lanes[name] = lane
            self.metrics.watch(name, lane)
        yield
        for lane in self._lanes.values():
            await lane.close()

    # The paths ----------------------------------------------------------------------

    async def _predict(self, request):
        _, model = self._model(request)
        body = await self._body(request)
        question = predict.read(body, model.signatures, self.limits)
        try:
            async with asyncio.timeout(self.limits.timeout):
                outputs = await self._lane(question).ask(question)
                body = await asyncio.to_thread(predict.write, question, outputs)
        except TimeoutError:
            raise self._too_slow(504, "an answer", "none yet") from None
        except tf.errors.InvalidArgumentError:
            log.exception("%s cannot use its inputs", question.signature.name)
            raise bad_request(
                "The model cannot use these inputs",
                f"what {question.signature.name} is made for",
                "an error while computing",
                "Check them; the server's log says more",
            ) from None
        return web.Response(body=body, content_type="application/json")

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
        return json_answer({"status": "ok"})

    async def _metrics(self, request):
        return web.Response(body=self.metrics.page(), headers=self.metrics.headers)

    # What they share ----------------------------------------------------------------

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

    async def _body(self, request):
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await request.read()
        except TimeoutError:
            raise self._too_slow(408, "the body", "a part of it") from None
        except web.HTTPRequestEntityTooLarge:
            raise too_much(
                "The body is too large",
                f"{self.limits.max_body} bytes or less",
                "more",
                "Send several requests, or start the server with a larger --max-body",
            ) from None
        except web.RequestPayloadError:
            raise bad_request(
                "The body cannot be read",
                "what the head of the request says",
                "something else",
                "Check Content-Length, Transfer-Encoding and Content-Encoding",
            ) from None

    def _lane(self, question):
        """Long texts wait for one another; nobody else waits for them."""
        strings = [x for x in question.inputs.values() if x.dtype.kind == "O"]
        longest = max((len(text) for x in strings for text in x.ravel()), default=0)
        return self._lanes["long" if longest > LONG else "short"]

    def _too_slow(self, status, what, received):
        message = four_parts(
            "The request takes too long",
            f"{what} in {self.limits.timeout:g} seconds",
            received,
            "Send less at once, try again later, or start the server with a longer "
            "--timeout",
        )
        return Refused(status, message)
