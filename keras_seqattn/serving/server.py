"""From folders to a server that runs until a signal stops it."""

import asyncio
import contextlib
import functools
import logging
import re
import signal
import socket

from keras_seqattn.errors import four_part_error
from keras_seqattn.manifest import verify
from keras_seqattn.serving.memory import keep_loaded_objects, use_system_allocator

log = logging.getLogger(__name__)
GRACE = 5.0  # seconds beyond the timeout of the requests that still run
IDLE = 75.0  # seconds that a connection may be unused
LINGERING = 2.0  # seconds for which the rest of a refused body is read and dropped
QUEUE = 1024  # connections that the system keeps until they are accepted


def serve(name, folders, address, limits, log_requests=False, hosts=(), log_rate=None):
    """Serves until SIGTERM or SIGINT, then answers what was asked before.

    Args:
        name: of the model in URLs.
        folders: dict from versions to folders that `Translator.export` has written;
            their checksums are compared first.
        address: host and port to listen at; port 0: a free one, which the log says.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
        hosts: names that it answers to; none: any.
        log_rate: `LogRate`, which bounds the lines about bad requests.
    """
    _check_name(name)
    _check_packages()
    for folder in folders.values():
        verify(folder, "serve")
    use_system_allocator()
    from keras_seqattn.serving.model import ServedModel
    from keras_seqattn.serving.service import Service

    with _bound(*address) as listener:  # before the slow part
        models = {number: ServedModel(folder) for number, folder in folders.items()}
        for model in models.values():
            model.warm_up()
        keep_loaded_objects()
        tidy = functools.partial(log_rate.report, log) if log_rate else lambda: None
        service = Service(name, models, limits, log_requests, hosts, tidy)
        asyncio.run(_run(service, listener))


def runner(service):
    """Of aiohttp, for a `Service`."""
    from aiohttp import web

    return web.AppRunner(
        service.application(),
        access_log=None,
        auto_decompress=False,  # a small body could keep the event loop busy
        handler_cancellation=True,  # ends the work for a client that is gone
        keepalive_timeout=IDLE,
        lingering_time=LINGERING,
        logger=_protocol_log(),
        shutdown_timeout=service.limits.timeout + GRACE,
    )


async def listen(service, running, listener):
    """Accepts connections; returns a server of asyncio.

    Args:
        service: `Service`.
        running: `runner(service)` after its `setup`.
        listener: bound socket.
    """
    from keras_seqattn.serving.connections import BACKLOG, Connections

    protocols = Connections(running.server, service.limits, service.health)
    loop = asyncio.get_running_loop()
    found = await loop.create_server(protocols, sock=listener, backlog=BACKLOG)
    listener.listen(QUEUE)  # asyncio has taken its backlog for accept() already
    return found


async def _run(service, listener):
    running = runner(service)
    await running.setup()
    try:
        with _asked_to_stop() as stop:
            listening = await listen(service, running, listener)
            log.info("serving %s", _described(service, listener))
            await stop.wait()
        log.info("stopping: what was asked before is answered; again: at once")
        await service.drain(service.limits.timeout + GRACE)
        listening.close()
    finally:
        await running.cleanup()


@contextlib.contextmanager
def _asked_to_stop():
    """An event that the first signal sets; a second one ends the process."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = signal.SIGTERM, signal.SIGINT
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    yield stop
    for number in signals:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)


def _bound(host, port):
    """A socket of this server alone; it does not listen yet."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        family, kind, protocol, _, (ip, _, *rest) = found[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ip, port, *rest))
        except BaseException:
            listener.close()
            raise
    except (OSError, OverflowError) as error:
        raise four_part_error(
            "serve cannot listen there",
            "an address of this machine and a free port",
            f"host {host!r} and port {port} with the error {str(error)!r}",
            "Choose another --port; with 0 the system chooses",
        ) from error
    return listener


def _described(service, listener):
    host, port, *_ = listener.getsockname()
    host = f"[{host}]" if ":" in host else host
    versions = " and ".join(map(str, sorted(service.models)))
    return f"version {versions} at http://{host}:{port}/v1/models/{service.name}"


def _protocol_log():
    """For requests that are not HTTP: one line for each, without a traceback."""

    def shorten(record):
        if record.exc_info:
            record.msg = f"{record.getMessage()}: {record.exc_info[0].__name__}"
            record.args, record.exc_info = (), None
        return True

    found = logging.getLogger(f"{__name__}.protocol")
    found.addFilter(shorten)
    return found


def _check_name(name):
    if not re.fullmatch(r"[^/:\s]+", name):
        raise four_part_error(
            "serve got an unusable name",
            "a word without / and :, which stands in URLs",
            repr(name),
            "Choose another --name",
        )


def _check_packages():
    try:
        import aiohttp  # noqa: F401
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise four_part_error(
            "serve lacks a package",
            "aiohttp and prometheus-client to be installed",
            f'"{error}"',
            'Call `pip install "keras_seqattn[serve]"`',
            kind=ImportError,
        ) from error
