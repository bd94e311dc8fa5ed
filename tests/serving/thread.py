"""A server in a thread of the tests: limits of its own, and no start to wait for."""

import asyncio
import contextlib
import threading

from aiohttp import web

from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.service import Service
from tests.serving.client import Client


@contextlib.contextmanager
def serving(model, **limits):
    """A client of a server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait_for(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)

    try:
        service = Service("m", {1: model}, Limits(**limits))
        runner = web.AppRunner(
            service.application(), access_log=None, handler_cancellation=True
        )
        wait_for(_start(runner))
        try:
            yield Client(runner.addresses[0][1], "m")
        finally:
            wait_for(runner.cleanup())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(runner):
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
