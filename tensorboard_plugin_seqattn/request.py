"""HTTP requests and responses, without packages other than tensorboard."""

import json
import urllib.parse

from tensorboard import errors
from tensorboard.backend import http_util

from tensorboard_plugin_seqattn.fields import four_parts


class Request:
    """The attributes of a request that `http_util.Respond` reads, from WSGI."""

    def __init__(self, environ):
        self.environ = environ
        self.method = environ.get("REQUEST_METHOD", "GET")
        self.headers = {"Accept-Encoding": environ.get("HTTP_ACCEPT_ENCODING", "")}
        query = environ.get("QUERY_STRING", "")
        self._query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))

    def argument(self, name):
        """Return a value from the query."""
        if name not in self._query:
            raise errors.InvalidArgumentError(
                four_parts(
                    f"the query lacks {name!r}",
                    "?run=...&tag=...",
                    f"{sorted(self._query)}",
                    "Take run and tag from ./runs, URL-encoded",
                )
            )
        return self._query[name]


def wsgi(answer, content_type):
    """Make a WSGI application from a function of a `Request` that returns content."""

    def app(environ, start_response):
        request = Request(environ)
        response = http_util.Respond(request, answer(request), content_type)
        return response(environ, start_response)

    return app


def json_app(answer):
    """Make a WSGI application from a function that returns a dict.

    NaN and infinity, which times may be, are sent as strings.
    """

    def text(request):
        content = answer(request)
        try:
            return json.dumps(content, allow_nan=False)
        except ValueError:
            return content  # Respond writes those as strings, but is slow

    return wsgi(text, "application/json")
