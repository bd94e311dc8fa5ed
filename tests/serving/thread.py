"""A server in a thread of the tests: limits of its own, and no start to wait for."""

import asyncio
import contextlib
import socket
import threading

from keras_seqattn.serving import server
from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.service import Service
from tests.serving.client import Client


@contextlib.contextmanager
def serving(model, hosts=(), **limits):
    """A client of a server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait_for(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)

    try:
        service = Service("m", {1: model}, Limits(**limits), hosts=hosts)
        listener = socket.create_server(("127.0.0.1", 0))
        runner, listening = wait_for(_start(service, listener))
        try:
            yield Client(listener.getsockname()[1], "m")
        finally:
            loop.call_soon_threadsafe(listening.close)
            wait_for(runner.cleanup())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(service, listener):
    runner = server.make_runner(service)
    await runner.setup()
    return runner, await server.listen(service, runner, listener)
