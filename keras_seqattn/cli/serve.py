"""Serve an exported model over HTTP."""

import contextlib
import dataclasses
import logging

from keras_seqattn.serving import server, versions
from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.log_rate import LogRate


def run(options):
    """Find the exported model and serve it until a signal ends the process."""
    fields = dataclasses.fields(Limits)
    limits = Limits(**{field.name: getattr(options, field.name) for field in fields})
    folders = versions.find_versions(options.path, options.versions)
    name = versions.model_name(options.path) if options.name is None else options.name
    address, hosts = (options.host, options.port), options.allowed_hosts
    with _log_to_standard_error() as rate:
        server.serve(name, folders, address, limits, options.log_requests, hosts, rate)


@contextlib.contextmanager
def _log_to_standard_error():
    """Write the log to standard error; yields the `LogRate` that limits its lines."""
    handler, rate = logging.StreamHandler(), LogRate()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(rate)
    logs = logging.getLogger("keras_seqattn.serving"), logging.getLogger("asyncio")
    logs[0].setLevel(logging.INFO)
    for log in logs:
        log.addHandler(handler)
    try:
        yield rate
    finally:
        for log in logs:
            log.removeHandler(handler)
