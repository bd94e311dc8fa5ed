"""Answers requests to `:predict`.

The event loop does only quick work. One thread parses large bodies and writes large
answers, and two threads compute.
"""

import asyncio
import concurrent.futures
import contextlib
import logging

import tensorflow as tf
from aiohttp import web

from keras_seqattn.serving.batch_queue import BatchQueue
from keras_seqattn.serving.header_checks import body_too_large, check_body_headers
from keras_seqattn.serving.http_errors import http_error, overloaded
from keras_seqattn.serving.memory import LARGE, give_back
from keras_seqattn.serving.predict_request import parse_request
from keras_seqattn.serving.predict_response import check_rows, is_small, pieces
from keras_seqattn.serving.responses import json_bytes_response
from keras_seqattn.serving.signature import cell_count

log = logging.getLogger(__name__)
LONG = 512  # bytes; a longer text goes to the queue of long texts
SHORT = 16_384  # bytes; the event loop parses a shorter body itself


class Predictor:
    """Two queues for computations, and a thread for JSON.

    Args:
        limits: `Limits`.
        metrics: `Metrics`.
    """

    def __init__(self, limits, metrics):
        self.limits, self.metrics = limits, metrics
        self._queues, self._cells, self._was_large = {}, 0, False
        self._most_cells = limits.max_cells_at_once
        self._json = concurrent.futures.ThreadPoolExecutor(1, "json")

    @contextlib.asynccontextmanager
    async def running(self):
        """Start the threads, and end them on exit."""
        for name in ("short", "long"):
            queue = BatchQueue(self.limits, name == "short", self.metrics.batch)
            self._queues[name] = queue
            self.metrics.watch(name, queue)
        try:
            yield
        finally:
            for queue in self._queues.values():
                await queue.close()
            await asyncio.to_thread(self._json.shutdown)

    async def give_memory_back(self):
        """Return the memory of large computations to the system.

        Call this regularly.
        """
        if self._was_large:
            self._was_large = False
            await self._in_thread(give_back)

    async def answer(self, request, signatures):
        """Return the response to a request.

        Args:
            request: of aiohttp.
            signatures: dict of `Signature`s.
        """
        check_body_headers(request, self.limits.max_body)
        body = await self._body(request)
        if len(body) <= SHORT:
            call = parse_request(body, signatures, self.limits)
        else:
            call = await self._in_thread(parse_request, body, signatures, self.limits)
        with self._reserved(cell_count(call)):
            outputs = await self._outputs(call)
            check_rows(call, outputs)
            return await self._response(request, call, outputs)

    async def _body(self, request):
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await request.read()
        except TimeoutError:
            raise self._timeout_error(408, "the body", "a part of it") from None
        except web.HTTPRequestEntityTooLarge:
            raise body_too_large(self.limits.max_body) from None
        except web.RequestPayloadError:
            raise http_error(
                400,
                "The server cannot read the body",
                "a body that agrees with the headers of the request",
                "another length or encoding",
                "Check Content-Length and Transfer-Encoding",
            ) from None

    @contextlib.contextmanager
    def _reserved(self, cells):
        """Count the cells of a request until its answer is sent."""
        most = self._most_cells
        if self._cells + cells > most:
            raise overloaded(
                f"at most {most} rows x source x target in all running requests",
                f"{cells} while {self._cells} are running",
            )
        self._cells += cells
        try:
            yield
        finally:
            self._cells -= cells
            self._was_large |= cells > LARGE

    async def _outputs(self, call):
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await self._queue(call).compute(call)
        except TimeoutError:
            raise self._timeout_error(504, "an answer", "none yet") from None
        except tf.errors.InvalidArgumentError:
            log.exception("%s cannot use its inputs", call.signature.name)
            raise http_error(
                400,
                "The model cannot use these inputs",
                f"inputs that the signature {call.signature.name} can use",
                "an error while computing",
                "Check them; the server's log has the details",
            ) from None

    def _queue(self, call):
        """Return the queue for a call: short texts do not wait for long ones."""
        strings = [x for x in call.inputs.values() if x.dtype.kind == "O"]
        longest = max((len(text) for x in strings for text in x.ravel()), default=0)
        is_long = longest > LONG or cell_count(call) > LARGE
        return self._queues["long" if is_long else "short"]

    async def _response(self, request, call, outputs):
        texts = pieces(call, outputs)
        if is_small(outputs):
            return json_bytes_response("".join(texts).encode())
        first = await self._in_thread(next, texts, None)
        second = await self._in_thread(next, texts, None)
        if second is None:
            return json_bytes_response(first.encode())
        return await self._stream(request, [first, second], texts)

    async def _stream(self, request, begun, texts):
        """Send pieces until the client has all of them, or has closed the connection.

        Args:
            request: of aiohttp.
            begun: list of the first pieces.
            texts: iterator of the other pieces.
        """
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
        except Exception as error:  # an error response is not possible any more
            if not isinstance(error, TimeoutError):  # the client reads too slowly
                log.exception("an answer could not be sent")
            if request.transport is not None:
                request.transport.abort()
        return response

    def _in_thread(self, function, *args):
        return asyncio.get_running_loop().run_in_executor(self._json, function, *args)

    def _timeout_error(self, status, expected, received):
        return http_error(
            status,
            "The request takes too long",
            f"{expected} in {self.limits.timeout:g} seconds",
            received,
            "Send less in one request, try again later, or start the server with a "
            "longer --timeout",
        )
