"""Serves an exported model over HTTP, as TensorFlow Serving does."""

import contextlib

from keras_seqattn.serving.limits import Limits

USUAL = Limits()
HELP = "serve an exported model over HTTP"
EXAMPLES = """\
examples:
  seqattn serve served                       at port 8501, until Ctrl-C
  seqattn serve served --name de --port 0    a free port; it says which
  seqattn serve served --versions all        .../versions/1, .../versions/2

Ask it, e.g. with curl, or with what talks to TensorFlow Serving:
  curl -H 'Content-Type: application/json' -d '{"instances": ["3 May 2001"]}' \\
      localhost:8501/v1/models/served:predict
  curl localhost:8501/v1/models/served/metadata
There are no passwords: every client that reaches the port gets answers. /healthz says
that the server runs, /monitoring/prometheus/metrics what it does.
"""


def configure(parser):
    """Adds its options."""
    parser.add_argument(
        "path", metavar="PATH", help="folder of seqattn export, or a shipped model"
    )
    parser.add_argument("--name", help="in URLs (default: the folder's)")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=8501, help="default: %(default)s")
    parser.add_argument(
        "--versions", metavar="N,N", help="numbers, or all (default: the highest)"
    )
    parser.add_argument(
        "--log-requests", action="store_true", help="a line for each, standard error"
    )
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAME,NAME",
        default=[],
        type=lambda names: [name.strip() for name in names.split(",") if name.strip()],
        help="names in URLs that it answers to (default: any)",
    )
    _add_limits(parser.add_argument_group("limits"))


def run(parsed):
    """Serves."""
    from keras_seqattn.serving import versions
    from keras_seqattn.serving.server import serve

    limits = Limits(**{name: getattr(parsed, name) for name in vars(USUAL)})
    folders = versions.find_versions(parsed.path, parsed.versions)
    name = versions.model_name(parsed.path) if parsed.name is None else parsed.name
    address, hosts = (parsed.host, parsed.port), parsed.allowed_hosts
    with _log_to_standard_error() as rate:
        serve(name, folders, address, limits, parsed.log_requests, hosts, rate)


def _add_limits(group):
    helps = {
        "batch": "texts at once, and in one request",
        "wait_ms": "milliseconds that a request waits for others to join it",
        "timeout": "seconds until a request is given up",
        "max_body": "bytes of a request",
        "max_text": "characters of a text",
        "queue": "texts that may wait",
        "max_cells": "texts x longest source x longest target at once, in tokens",
        "max_connections": "connections at once",
    }
    for name, help in helps.items():
        usual = getattr(USUAL, name)
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(usual),
            default=usual,
            metavar="N" if isinstance(usual, int) else "X",
            help=f"{help} (default: %(default)s)",
        )


@contextlib.contextmanager
def _log_to_standard_error():
    """Yields the `LogRate` of the log."""
    import logging

    from keras_seqattn.serving.log_rate import LogRate

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
