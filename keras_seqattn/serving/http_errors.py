"""Errors that the server sends to clients."""

import json

from keras_seqattn.errors import four_parts

SHOWN = 60  # characters of a received value that an error message shows


class HttpError(Exception):
    """A request that the server refuses. Handlers raise it.

    Args:
        status: HTTP status code.
        message: for the client, in four parts.
        headers: dict of further response headers.
    """

    def __init__(self, status, message, headers=None):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}


def http_error(status, what, expected, received, remedy, headers=None):
    """Return an `HttpError` whose message has four parts, see `four_parts`."""
    return HttpError(status, four_parts(what, expected, received, remedy), headers)


def overloaded(expected, received):
    """Return the error for a request that the server has no room for now."""
    return http_error(
        503,
        "The server is overloaded",
        expected,
        received,
        "Try again in a second",
        headers={"Retry-After": "1"},
    )


def error_body(message):
    """Return the body of an error response, JSON in bytes."""
    return json.dumps({"error": message}, sort_keys=True).encode()


def short_json(value):
    """Return a value as JSON for an error message; long JSON is cut."""
    try:
        text = json.dumps(value)
    except RecursionError:  # json.loads reads slightly deeper lists than it can write
        return "lists that are nested too deeply"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."
