"""Limits for connections: their number, and how long one may send nothing."""

import asyncio
import logging
import resource

from keras_seqattn.errors import four_parts
from keras_seqattn.serving.http_errors import error_body

log = logging.getLogger(__name__)
BACKLOG = 8  # connections that asyncio accepts in one turn of its loop
TURNS = 6  # turns of the loop from accepting a connection to closing it, at most
WAITING = 32  # connections above the limit that may send a request first
OTHER_FILES = 48  # files that the process has open beside its connections
PATIENCE = 1.0  # seconds that a connection above the limit has for its request


class Connections:
    """Makes a protocol for every connection, and refuses connections above the limit.

    A process needs a free file descriptor even to refuse a connection, so the limit is
    below their number. A connection above the limit may still request /healthz.

    Args:
        make_protocol: function that returns a protocol of aiohttp.
        limits: `Limits`.
        health: function that returns the status and the body of /healthz.
    """

    def __init__(self, make_protocol, limits, health):
        self.make_protocol, self.health = make_protocol, health
        self.limit = connection_limit(limits.max_connections)
        self.timeout = limits.timeout
        self.open, self.refusing = set(), 0

    def __call__(self):
        """Return a protocol for the next connection."""
        return _Connection(self)


def headers_received(transport):
    """End the deadline of a connection that has sent the headers of a request."""
    protocol = transport and transport.get_protocol()
    if isinstance(protocol, _Connection):
        protocol.headers_received()


class _Connection(asyncio.Protocol):
    """aiohttp's protocol for one connection, with deadlines.

    aiohttp waits without end for a client that does not read its answer. Some releases
    also wait without end for the headers of the first request.
    """

    def __init__(self, owner):
        self._owner, self._inner = owner, None
        self._transport = self._deadline = None

    def connection_made(self, transport):
        if len(self._owner.open) >= self._owner.limit:
            refusing = _Refusing(self._owner)
            transport.set_protocol(refusing)
            refusing.connection_made(transport)
            return
        self._owner.open.add(self)
        self._transport, self._inner = transport, self._owner.make_protocol()
        self._set_deadline()
        self._inner.connection_made(transport)

    def headers_received(self):
        self._drop_deadline()

    def pause_writing(self):
        self._set_deadline()
        self._inner.pause_writing()

    def resume_writing(self):
        self._drop_deadline()
        self._inner.resume_writing()

    def connection_lost(self, error):
        self._drop_deadline()
        self._owner.open.discard(self)
        self._inner.connection_lost(error)

    def data_received(self, data):
        self._inner.data_received(data)

    def eof_received(self):
        return self._inner.eof_received()

    def _set_deadline(self):
        self._drop_deadline()
        later = asyncio.get_running_loop().call_later
        self._deadline = later(self._owner.timeout, self._transport.abort)

    def _drop_deadline(self):
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Refusing(asyncio.Protocol):
    """Sends an error and closes the connection.

    It waits up to `PATIENCE` for a request: if the server closes a connection that has
    unread bytes, the client may lose the answer.
    """

    def __init__(self, owner):
        self._owner, self._transport, self._deadline = owner, None, None

    def connection_made(self, transport):
        self._transport = transport
        self._owner.refusing += 1
        if self._owner.refusing > WAITING:
            self._answer(b"")
            return
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(PATIENCE, self._answer, b"")

    def data_received(self, data):
        self._answer(data)

    def connection_lost(self, error):
        self._owner.refusing -= 1
        if self._deadline is not None:
            self._deadline.cancel()

    def _answer(self, request):
        if self._transport.is_closing():
            return
        status, body = 503, _too_many(self._owner.limit)
        if request.startswith((b"GET /healthz ", b"HEAD /healthz ")):
            status, body = self._owner.health()
        reason = {200: "OK", 503: "Service Unavailable"}[status]
        head = (
            f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nRetry-After: 1\r\nConnection: close\r\n"
        )
        self._transport.write(f"{head}\r\n".encode() + body)
        self._transport.close()


def _too_many(limit):
    message = four_parts(
        "The server has too many connections",
        f"at most {limit}",
        "one more",
        "Try again in a second, or start the server with a larger --max-connections",
    )
    return error_body(message)


def connection_limit(wanted):
    """Return `wanted`, or fewer if this process may open too few files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    room = max(files - BACKLOG * TURNS - WAITING - OTHER_FILES, 1)
    if room < wanted:
        log.warning(
            "%d connections at most, not %d: this process may have %d files open. "
            "Raise it with ulimit -n, or lower --max-connections",
            *(room, wanted, files),
        )
    return min(room, wanted)
