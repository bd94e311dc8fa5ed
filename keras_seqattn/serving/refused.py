"""Errors for clients."""

import json

SHOWN = 60  # characters of what was received


class Refused(Exception):
    """A request without an answer.

    Args:
        status: of HTTP.
        message: in four parts.
        headers: dict, beside it.
    """

    def __init__(self, status, message, headers=None):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}


def bad_request(what, expected, received, remedy):
    """400: it is never right, however often it is sent."""
    return Refused(400, four_parts(what, expected, received, remedy))


def too_much(what, expected, received, remedy):
    """413: less of it would be right."""
    return Refused(413, four_parts(what, expected, received, remedy))


def four_parts(what, expected, received, remedy):
    """The text of an error."""
    return f"{what}. Expected {expected}, received {received}. {remedy}."


def error_body(message):
    """The body of an answer with an error."""
    return json.dumps({"error": message}, sort_keys=True).encode()


def shown(value):
    """A value as JSON, its beginning if it is long."""
    try:
        text = json.dumps(value)
    except RecursionError:  # what could just be read is too deep to be written
        return "too many lists in lists"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."
