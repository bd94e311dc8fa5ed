"""JSON responses, and the middleware that answers every request.

Clients always get JSON, and never a traceback.
"""

import json
import logging
import time

from aiohttp import web

from keras_seqattn.errors import four_parts
from keras_seqattn.serving.connections import headers_received
from keras_seqattn.serving.http_errors import HttpError, error_body

log = logging.getLogger(__name__)
ENDPOINTS = ("predict", "metadata", "healthz", "metrics")  # last words of paths


def json_response(value):
    """Return a response with a value as JSON."""
    return json_bytes_response(json.dumps(value, sort_keys=True).encode())


def json_bytes_response(body, status=200, headers=None):
    """Return a response whose body is JSON already, in bytes."""
    json_type = "application/json"
    return web.Response(
        body=body, status=status, headers=headers, content_type=json_type
    )


def response_middleware(count, log_requests, check):
    """Return a middleware that counts requests and turns exceptions into responses.

    Args:
        count: called with the endpoint, status and seconds of each request.
        log_requests: whether each request gets a line in the log.
        check: called with each request first; raises `HttpError` to refuse it.
    """

    @web.middleware
    async def respond(request, handler):
        start = time.monotonic()
        headers_received(request.transport)
        response = await _response(request, handler, check)
        is_read = request.content.is_eof()
        if not is_read or response.headers.get("Connection") == "close":
            response.force_close()
        seconds = time.monotonic() - start
        count(_endpoint(request), response.status, seconds)
        if log_requests:
            path, milliseconds = request.rel_url.raw_path, 1000 * seconds
            log.info(
                "%s %s %d, %.1f ms",
                request.method,
                path,
                response.status,
                milliseconds,
            )
        return response

    return respond


async def _response(request, handler, check):
    try:
        check(request)
        return await handler(request)
    except HttpError as error:
        return _error_response(error.status, error.message, error.headers)
    except web.HTTPException as error:  # raised by the router: 404, 405
        headers = {k: v for k, v in error.headers.items() if k == "Allow"}
        return _error_response(error.status, _routing_message(request, error), headers)
    except ConnectionError:  # the client has closed the connection
        raise
    except Exception:
        log.exception("a request failed")
        message = four_parts(
            "The server has failed",
            "an answer",
            "an error while computing",
            "Tell the operator of the server: the log has the details",
        )
        return _error_response(500, message)


def _error_response(status, message, headers=None):
    return json_bytes_response(error_body(message), status, headers)


def _endpoint(request):
    """Return a known word: clients must not create new metrics with invented paths."""
    resource = request.match_info.route.resource
    if resource is None:
        return "unknown"
    path = resource.canonical
    return next((name for name in ENDPOINTS if path.endswith(name)), "status")


def _routing_message(request, error):
    if error.status == 405:
        return four_parts(
            "The path does not support this method",
            " or ".join(sorted(error.allowed_methods)),
            request.method,
            "Use POST for :predict, and GET for all other paths",
        )
    return four_parts(
        "The server does not know this path",
        "/v1/models/NAME:predict or another path of TensorFlow Serving's REST API",
        repr(request.rel_url.raw_path[:100]),
        "Check the URL",
    )
