"""`serve`: loads SavedModels and answers requests until a signal stops it."""

import asyncio
import contextlib
import functools
import logging
import re
import signal
import socket

from keras_seqattn.errors import four_part_error, missing_package
from keras_seqattn.manifest import verify
from keras_seqattn.serving.memory import keep_loaded_objects, use_system_allocator

log = logging.getLogger(__name__)
GRACE = 5.0  # seconds that requests get beyond their timeout when the server stops
IDLE = 75.0  # seconds until an unused connection is closed
LINGERING = 2.0  # seconds in which the rest of a refused body is read and ignored
QUEUE = 1024  # connections that may wait in the system until they are accepted


def serve(name, folders, address, limits, log_requests=False, hosts=(), log_rate=None):
    """Serve until SIGTERM or SIGINT, then answer the requests that still run.

    Args:
        name: name of the model in URLs.
        folders: dict from versions to folders of `Translator.export`. Their checksums
            are verified first.
        address: host and port. Port 0 means any free port; the log names it.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
        hosts: host names that the server serves; if empty, all.
        log_rate: `LogRate`, which limits the log lines about bad requests.
    """
    _check_name(name)
    _check_packages()
    for folder in folders.values():
        verify(folder, "serve")
    use_system_allocator()
    from keras_seqattn.serving.model import ServedModel
    from keras_seqattn.serving.service import Service

    with _bind(*address) as listener:  # first, because loading models is slow
        models = {number: ServedModel(folder) for number, folder in folders.items()}
        for model in models.values():
            model.warm_up()
        keep_loaded_objects()
        tidy = functools.partial(log_rate.report, log) if log_rate else lambda: None
        service = Service(name, models, limits, log_requests, hosts, tidy)
        asyncio.run(_run(service, listener))


def make_runner(service):
    """Return a runner of aiohttp for a `Service`."""
    from aiohttp import web

    return web.AppRunner(
        service.application(),
        access_log=None,
        auto_decompress=False,  # a small body could keep the event loop busy
        handler_cancellation=True,  # ends the work if the client closes the connection
        keepalive_timeout=IDLE,
        lingering_time=LINGERING,
        logger=_protocol_logger(),
        shutdown_timeout=service.limits.timeout + GRACE,
    )


async def listen(service, runner, listener):
    """Accept connections, and return the server of asyncio.

    Args:
        service: `Service`.
        runner: `make_runner(service)` after its `setup`.
        listener: bound socket.
    """
    from keras_seqattn.serving.connections import BACKLOG, Connections

    protocols = Connections(runner.server, service.limits, service.health)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocols, sock=listener, backlog=BACKLOG)
    listener.listen(QUEUE)  # a longer queue than asyncio has set
    return server


async def _run(service, listener):
    runner = make_runner(service)
    await runner.setup()
    try:
        with _stop_event() as stop:
            server = await listen(service, runner, listener)
            log.info("serving %s", _description(service, listener))
            await stop.wait()
        log.info(
            "stopping: running requests get answers; a second signal stops at once"
        )
        await service.drain(service.limits.timeout + GRACE)
        server.close()
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def _stop_event():
    """Yield an event that the first signal sets; a second signal ends the process."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = signal.SIGTERM, signal.SIGINT
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    yield stop
    for number in signals:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)


def _bind(host, port):
    """Return a socket that has the address but does not listen yet."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        family, socket_type, protocol, _, (ip, _, *rest) = addresses[0]
        listener = socket.socket(family, socket_type, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ip, port, *rest))
        except BaseException:
            listener.close()
            raise
    except (OSError, OverflowError) as error:
        raise four_part_error(
            "serve cannot listen at this address",
            "an address of this machine and a free port",
            f"host {host!r} and port {port} with the error {str(error)!r}",
            "Choose another --port; --port 0 takes any free one",
        ) from error
    return listener


def _description(service, listener):
    host, port, *_ = listener.getsockname()
    host = f"[{host}]" if ":" in host else host
    versions = " and ".join(map(str, sorted(service.models)))
    return f"version {versions} at http://{host}:{port}/v1/models/{service.name}"


def _protocol_logger():
    """Return a logger for requests that are not HTTP: one line, no traceback."""

    def shorten(record):
        if record.exc_info:
            record.msg = f"{record.getMessage()}: {record.exc_info[0].__name__}"
            record.args, record.exc_info = (), None
        return True

    logger = logging.getLogger(f"{__name__}.protocol")
    logger.addFilter(shorten)
    return logger


def _check_name(name):
    if not re.fullmatch(r"[^/:\s]+", name):
        raise four_part_error(
            "serve got an unusable name",
            "a word without spaces, / and :, because it is a part of URLs",
            repr(name),
            "Choose another --name",
        )


def _check_packages():
    try:
        import aiohttp  # noqa: F401
        import prometheus_client  # noqa: F401
    except ImportError as error:
        packages = "aiohttp and prometheus-client"
        raise missing_package("serve", packages, error, extra="serve") from error
