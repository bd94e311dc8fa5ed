"""Whatever happens, the client gets JSON, and no traceback."""

import json
import logging
import time

from aiohttp import web

from keras_seqattn.serving.connections import heard
from keras_seqattn.serving.refused import Refused, error_body, four_parts

log = logging.getLogger(__name__)
ENDPOINTS = ("predict", "metadata", "healthz", "metrics")  # last words of paths


def json_answer(value, status=200, headers=None):
    """A response with a value as JSON."""
    return json_response(json.dumps(value, sort_keys=True).encode(), status, headers)


def json_response(body, status=200, headers=None):
    """A response with JSON."""
    kind = "application/json"
    return web.Response(body=body, status=status, headers=headers, content_type=kind)


def always_answered(count, log_requests, check):
    """A middleware that turns what is raised into answers.

    Args:
        count: called with endpoint, status and seconds of each request.
        log_requests: whether each gets a line in the log.
        check: called with each request first; raises what refuses it.
    """

    @web.middleware
    async def answered(request, handler):
        start = time.monotonic()
        heard(request.transport)
        response = await _answer(request, handler, check)
        is_read = request.content.is_eof()
        if not is_read or response.headers.get("Connection") == "close":
            response.force_close()
        seconds = time.monotonic() - start
        count(_endpoint(request), response.status, seconds)
        if log_requests:
            path, milliseconds = request.rel_url.raw_path, 1000 * seconds
            how = request.method, path, response.status, milliseconds
            log.info("%s %s %d, %.1f ms", *how)
        return response

    return answered


async def _answer(request, handler, check):
    try:
        check(request)
        return await handler(request)
    except Refused as refused:
        return _error(refused.status, refused.message, refused.headers)
    except web.HTTPException as error:  # by the router: 404, 405
        headers = {k: v for k, v in error.headers.items() if k == "Allow"}
        return _error(error.status, _not_routed(request, error), headers)
    except ConnectionError:  # the client is gone
        raise
    except Exception:
        log.exception("a request failed")
        message = four_parts(
            "The server has failed",
            "an answer",
            "an error while computing",
            "Tell the operator of the server: the log has the details",
        )
        return _error(500, message)


def _error(status, message, headers=None):
    return json_response(error_body(message), status, headers)


def _endpoint(request):
    """A known word: the metrics must not grow with paths that clients invent."""
    resource = request.match_info.route.resource
    if resource is None:
        return "unknown"
    path = resource.canonical
    return next((name for name in ENDPOINTS if path.endswith(name)), "status")


def _not_routed(request, error):
    if error.status == 405:
        return four_parts(
            "The path is not for this method",
            " or ".join(sorted(error.allowed_methods)),
            request.method,
            "Ask for predictions with POST, for anything else with GET",
        )
    return four_parts(
        "The server does not know this path",
        "/v1/models/NAME:predict or another one of TensorFlow Serving's",
        repr(request.rel_url.raw_path[:100]),
        "Check the URL",
    )
