"""Connections: how many there may be, and how long one may stay silent."""

import asyncio
import logging
import resource

from keras_seqattn.serving.refused import error_body, four_parts

log = logging.getLogger(__name__)
BACKLOG = 8  # connections that asyncio accepts in one turn of its loop
TURNS = 6  # from accepting a connection to having closed it, at most
WAITING = 32  # connections above the limit that get their answer in order
OWN = 48  # files that the process has open besides
PATIENCE = 1.0  # seconds for the request of a connection above the limit


class Connections:
    """Makes a protocol for every connection, and refuses those above the limit.

    A process without file descriptors cannot even refuse, so the limit is below their
    number. A connection above the limit may still ask for /healthz.

    Args:
        make_protocol: of aiohttp.
        limits: `Limits`.
        health: returns the status and the body of /healthz.
    """

    def __init__(self, make_protocol, limits, health):
        self.make_protocol, self.health = make_protocol, health
        self.limit, self.timeout = limit(limits.max_connections), limits.timeout
        self.open, self.refusing = set(), 0

    def __call__(self):
        """A protocol for the next connection."""
        return _Connection(self)


def heard(transport):
    """A connection has sent the head of a request."""
    protocol = transport and transport.get_protocol()
    if isinstance(protocol, _Connection):
        protocol.heard()


class _Connection(asyncio.Protocol):
    """aiohttp's protocol for one connection, with deadlines.

    aiohttp waits without end for a client that does not read its answer, and in some
    releases for one that does not send the head of its first request.
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

    def heard(self):
        """The head of a request is complete."""
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
    """Answers the first request that comes, or none after a second, and hangs up.

    The request is read first: if the server closes a connection with unread bytes, the
    client may lose the answer.
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
        f"{limit} or less",
        "one more",
        "Try again in a second, or start the server with a larger --max-connections",
    )
    return error_body(message)


def limit(wanted):
    """As many connections as the file descriptors of this process allow."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    room = max(files - BACKLOG * TURNS - WAITING - OWN, 1)
    if room < wanted:
        log.warning(
            "%d connections at most, not %d: this process may have %d files open. "
            "Raise it with ulimit -n, or lower --max-connections",
            *(room, wanted, files),
        )
    return min(room, wanted)
