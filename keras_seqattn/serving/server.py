"""From folders to a server that runs until somebody stops it."""

import asyncio
import contextlib
import logging
import re
import signal
import socket

from keras_seqattn.export.manifest import verify

log = logging.getLogger(__name__)
GRACE = 5.0  # seconds beyond the timeout of the requests that still run
IDLE = 75.0  # seconds that a connection may be unused


def serve(name, folders, address, limits, log_requests=False):
    """Serves until SIGTERM or SIGINT, then answers what was asked before.

    Args:
        name: of the model in URLs.
        folders: dict from versions to folders that `Translator.export` has written;
            their checksums are compared first.
        address: host and port to listen at; port 0: a free one, which the log says.
        limits: `Limits`.
        log_requests: whether each request gets a line in the log.
    """
    _check_name(name)
    _check_packages()
    for folder in folders.values():
        verify(folder, "serve")
    from keras_seqattn.serving.model import ServedModel
    from keras_seqattn.serving.service import Service

    with _bound(*address) as listener:  # before the slow part
        models = {number: ServedModel(folder) for number, folder in folders.items()}
        for model in models.values():
            model.warm_up()
        asyncio.run(_run(Service(name, models, limits, log_requests), listener))


async def _run(service, listener):
    from aiohttp import web

    runner = web.AppRunner(
        service.application(),
        access_log=None,
        handler_cancellation=True,  # who has hung up is not worked for
        logger=_protocol_log(),
        keepalive_timeout=IDLE,
        shutdown_timeout=service.limits.timeout + GRACE,
    )
    await runner.setup()
    try:
        with _asked_to_stop() as stop:
            await web.SockSite(runner, listener).start()
            log.info("serving %s", _described(service, listener))
            await stop.wait()
        log.info("stopping: what was asked before is answered; again: at once")
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def _asked_to_stop():
    """An event, which the first signal sets; a second one is deadly."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = signal.SIGTERM, signal.SIGINT
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    yield stop
    for number in signals:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)


def _bound(host, port):
    """A socket that nobody else has; it does not listen yet."""
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
        raise ValueError(
            "serve cannot listen there. Expected an address of this machine and a free "
            f"port, received host {host!r} and port {port} with the error "
            f"{str(error)!r}. Choose another --port; with 0 the system chooses."
        ) from error
    return listener


def _described(service, listener):
    host, port, *_ = listener.getsockname()
    host = f"[{host}]" if ":" in host else host
    versions = " and ".join(map(str, sorted(service.models)))
    return f"version {versions} at http://{host}:{port}/v1/models/{service.name}"


def _protocol_log():
    """For requests that are no HTTP: a line each, no traceback."""

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
        raise ValueError(
            "serve got an unusable name. Expected a word without / and :, which stands "
            f"in URLs, received {name!r}. Choose another --name."
        )


def _check_packages():
    try:
        import aiohttp  # noqa: F401
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "serve lacks a package. Expected aiohttp and prometheus-client to be "
            f'installed, received "{error}". Call `pip install '
            '"keras_seqattn[serve]"`.'
        ) from error
