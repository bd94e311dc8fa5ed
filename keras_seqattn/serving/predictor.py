"""From a request to `:predict` to its answer.

The event loop does only quick work. One thread reads large bodies and writes large
answers, and two threads compute.
"""

import asyncio
import concurrent.futures
import contextlib
import logging

import tensorflow as tf
from aiohttp import web

from keras_seqattn.serving import predict, writing
from keras_seqattn.serving.answers import json_response
from keras_seqattn.serving.heads import check_body, too_large
from keras_seqattn.serving.lane import Lane
from keras_seqattn.serving.memory import LARGE, give_back
from keras_seqattn.serving.refused import Refused, bad_request, four_parts
from keras_seqattn.serving.sizes import cells

log = logging.getLogger(__name__)
LONG = 512  # bytes of a text that is computed alone
SHORT = 16_384  # bytes of a body that the event loop reads itself


class Predictor:
    """Lanes for computations, and a thread for JSON.

    Args:
        limits: `Limits`.
        metrics: `Metrics`.
    """

    def __init__(self, limits, metrics):
        self.limits, self.metrics = limits, metrics
        self._lanes, self._cells, self._was_large = {}, 0, False
        self._json = concurrent.futures.ThreadPoolExecutor(1, "json")

    @contextlib.asynccontextmanager
    async def running(self):
        """Its threads, which end."""
        for name in ("short", "long"):
            lane = Lane(self.limits, name == "short", self.metrics.batch)
            self._lanes[name] = lane
            self.metrics.watch(name, lane)
        try:
            yield
        finally:
            for lane in self._lanes.values():
                await lane.close()
            await asyncio.to_thread(self._json.shutdown)

    async def give_memory_back(self):
        """To be called now and then: returns what large computations have left."""
        if self._was_large:
            self._was_large = False
            await self._in_thread(give_back)

    async def answer(self, request, signatures):
        """The response to a request.

        Args:
            request: of aiohttp.
            signatures: dict of `Signature`s.
        """
        check_body(request, self.limits.max_body)
        body = await self._body(request)
        if len(body) <= SHORT:
            question = predict.read(body, signatures, self.limits)
        else:
            reading = predict.read, body, signatures, self.limits
            question = await self._in_thread(*reading)
        with self._room(cells(question)):
            outputs = await self._outputs(question)
            writing.check_rows(question, outputs)
            return await self._response(request, question, outputs)

    async def _body(self, request):
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await request.read()
        except TimeoutError:
            raise self._too_slow(408, "the body", "a part of it") from None
        except web.HTTPRequestEntityTooLarge:
            raise too_large(self.limits.max_body) from None
        except web.RequestPayloadError:
            raise bad_request(
                "The body cannot be read",
                "what the head of the request says",
                "something else",
                "Check Content-Length and Transfer-Encoding",
            ) from None

    @contextlib.contextmanager
    def _room(self, count):
        """Counts the cells of a request until its answer is sent."""
        most = self.limits.max_cells_at_once
        if self._cells + count > most:
            message = four_parts(
                "The server has more to do than it can",
                f"at most {most} rows x source x target in all running requests",
                f"{count} beside {self._cells}",
                "Try again in a second",
            )
            raise Refused(503, message, {"Retry-After": "1"})
        self._cells += count
        try:
            yield
        finally:
            self._cells -= count
            self._was_large |= count > LARGE

    async def _outputs(self, question):
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await self._lane(question).ask(question)
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

    def _lane(self, question):
        """Short texts do not wait for long ones, nor for many of them."""
        strings = [x for x in question.inputs.values() if x.dtype.kind == "O"]
        longest = max((len(text) for x in strings for text in x.ravel()), default=0)
        is_long = longest > LONG or cells(question) > LARGE
        return self._lanes["long" if is_long else "short"]

    async def _response(self, request, question, outputs):
        texts = writing.pieces(question, outputs)
        if writing.is_small(outputs):
            return json_response("".join(texts).encode())
        first = await self._in_thread(next, texts, None)
        second = await self._in_thread(next, texts, None)
        if second is None:
            return json_response(first.encode())
        return await self._stream(request, [first, second], texts)

    async def _stream(self, request, begun, texts):
        """Sends pieces as the client takes them, until it has all or is gone."""
        response = web.StreamResponse()
        response.content_type = "application/json"
        try:
            async with asyncio.timeout(self.limits.timeout):
                await response.prepare(request)
                for text in begun:
                    await response.write(text.encode())
                while (text := await self._in_thread(next, texts, None)) is not None:
                    await response.write(text.encode())
        except ConnectionError:
            pass
        except Exception as error:  # too late for an error: half of it may be sent
            if not isinstance(error, TimeoutError):  # the client reads too slowly
                log.exception("an answer could not be sent")
            if request.transport is not None:
                request.transport.abort()
        return response

    def _in_thread(self, call, *args):
        return asyncio.get_running_loop().run_in_executor(self._json, call, *args)

    def _too_slow(self, status, what, received):
        message = four_parts(
            "The request takes too long",
            f"{what} in {self.limits.timeout:g} seconds",
            received,
            "Send less at once, try again later, or start the server with a longer "
            "--timeout",
        )
        return Refused(status, message)
