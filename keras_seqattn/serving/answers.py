"""Whatever happens, the client gets JSON, and no traceback."""

import json
import logging
import time

from aiohttp import web

from keras_seqattn.serving.refused import Refused, four_parts

log = logging.getLogger(__name__)
ENDPOINTS = ("predict", "metadata", "healthz", "metrics")  # last words of paths


def json_answer(value, status=200, headers=None):
    """A response with a value as JSON."""
    return web.Response(
        body=json.dumps(value, sort_keys=True).encode(),
        status=status,
        headers=headers,
        content_type="application/json",
    )


def always_answered(count, log_requests):
    """A middleware that turns what is raised into answers.

    Args:
        count: called with endpoint, status and seconds of each request.
        log_requests: whether each gets a line in the log.
    """

    @web.middleware
    async def answered(request, handler):
        start = time.monotonic()
        response = await _answer(request, handler)
        seconds = time.monotonic() - start
        count(_endpoint(request), response.status, seconds)
        if log_requests:
            path, milliseconds = request.rel_url.raw_path, 1000 * seconds
            how = request.method, path, response.status, milliseconds
            log.info("%s %s %d, %.1f ms", *how)
        return response

    return answered


async def _answer(request, handler):
    try:
        return await handler(request)
    except Refused as refused:
        return _error(refused.status, refused.message, refused.headers)
    except web.HTTPException as error:  # by the router: 404, 405
        headers = {k: v for k, v in error.headers.items() if k == "Allow"}
        return _error(error.status, _not_routed(request, error), headers)
    except ConnectionError:  # nobody is left to be answered
        raise
    except Exception:
        log.exception("a request failed")
        message = four_parts(
            "The server has failed",
            "an answer",
            "an error while computing",
            "Tell who runs it: the server's log says more",
        )
        return _error(500, message)


def _error(status, message, headers=None):
    return json_answer({"error": message}, status, headers)


def _endpoint(request):
    """Of those that there are: the metrics may not grow with what clients invent."""
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
