"""What the head of a request must say, checked before its body is read."""

import re

from keras_seqattn.serving.refused import Refused, four_parts

JSON = "application/json"


def check_host(request, hosts):
    """Refuses a name that is not this server's.

    A page that a browser has loaded from elsewhere can make its own name point to this
    machine; the browser then sends that name here.

    Args:
        request: of aiohttp.
        hosts: names in small letters; none: any.
    """
    name = _without_port(request.host).lower()
    if hosts and name not in hosts:
        message = four_parts(
            "The server does not answer to this name",
            f"the host {' or '.join(hosts)}",
            repr(name[:100]),
            "Use another name in the URL, or add it to --allowed-hosts",
        )
        raise _unread(421, message)


def check_body(request, max_body):
    """Refuses a body that cannot be used.

    Args:
        request: of aiohttp.
        max_body: bytes.
    """
    if request.content_type != JSON or "Content-Type" not in request.headers:
        received = request.headers.get("Content-Type", "none")
        message = four_parts(
            "The body has the wrong type",
            f"the header Content-Type: {JSON}",
            repr(received[:100]),
            f"Add it; with curl: -H 'Content-Type: {JSON}'",
        )
        raise _unread(415, message)
    encodings = request.headers.getall("Content-Encoding", ["identity"])
    if any(encoding.strip().lower() != "identity" for encoding in encodings):
        message = four_parts(
            "The body is encoded",
            "no header Content-Encoding",
            repr(", ".join(encodings)[:100]),
            "Send the JSON itself, uncompressed",
        )
        raise _unread(415, message, {"Accept-Encoding": "identity"})
    if (request.content_length or 0) > max_body:
        raise too_large(max_body)


def too_large(max_body):
    """413 for a body."""
    message = four_parts(
        "The body is too large",
        f"{max_body} bytes or less",
        "more",
        "Send several requests, or start the server with a larger --max-body",
    )
    return _unread(413, message)


def _unread(status, message, headers=None):
    """Refuses a request whose body is not read: its connection cannot go on."""
    return Refused(status, message, {"Connection": "close", **(headers or {})})


def _without_port(host):
    """`name` of `name:8501`, and `::1` of `[::1]:8501`."""
    return re.sub(r":\d*$", "", host).strip("[]")
