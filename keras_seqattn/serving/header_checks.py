"""Checks of the headers of a request, before its body is read."""

import re

from keras_seqattn.serving.http_errors import http_error

JSON = "application/json"


def check_host(request, hosts):
    """Refuse a request for a host name that is not this server's.

    A web page from another site can point its own host name to this machine (DNS
    rebinding). The browser then sends that name in the header Host.

    Args:
        request: of aiohttp.
        hosts: names in lower case; if empty, every name is allowed.
    """
    name = _without_port(request.host).lower()
    if hosts and name not in hosts:
        raise _unread_body_error(
            421,
            "The server does not serve this host name",
            f"the host {' or '.join(hosts)}",
            repr(name[:100]),
            "Use another name in the URL, or add it to --allowed-hosts",
        )


def check_body_headers(request, max_body):
    """Refuse a body of another type, with an encoding, or of too many bytes.

    Args:
        request: of aiohttp.
        max_body: greatest number of bytes.
    """
    if request.content_type != JSON or "Content-Type" not in request.headers:
        received = request.headers.get("Content-Type", "none")
        raise _unread_body_error(
            415,
            "The body has the wrong type",
            f"the header Content-Type: {JSON}",
            repr(received[:100]),
            f"Add it; with curl: -H 'Content-Type: {JSON}'",
        )
    encodings = request.headers.getall("Content-Encoding", ["identity"])
    if any(encoding.strip().lower() != "identity" for encoding in encodings):
        raise _unread_body_error(
            415,
            "The body is encoded",
            "no header Content-Encoding",
            repr(", ".join(encodings)[:100]),
            "Send the JSON without compression",
            {"Accept-Encoding": "identity"},
        )
    if (request.content_length or 0) > max_body:
        raise body_too_large(max_body)


def body_too_large(max_body):
    """Return the error for a body that is too large."""
    return _unread_body_error(
        413,
        "The body is too large",
        f"at most {max_body} bytes",
        "more",
        "Send several requests, or start the server with a larger --max-body",
    )


def _unread_body_error(status, what, expected, received, remedy, headers=None):
    """Return an error for a request whose body is not read.

    The connection must close, because the next request would start after the body.
    """
    headers = {"Connection": "close", **(headers or {})}
    return http_error(status, what, expected, received, remedy, headers)


def _without_port(host):
    """Return `name` for `name:8501`, and `::1` for `[::1]:8501`."""
    return re.sub(r":\d*$", "", host).strip("[]")
