"""Serve an exported model over HTTP, as TensorFlow Serving does."""

HELP = "serve an exported model over HTTP"
EXAMPLES = """\
examples:
  seqattn serve served                       at port 8501, until Ctrl-C
  seqattn serve served --name de --port 0    at a free port, which the log names
  seqattn serve served --versions all        .../versions/1, .../versions/2

Send requests with curl, or with any client of TensorFlow Serving:
  curl -H 'Content-Type: application/json' -d '{"instances": ["3 May 2001"]}' \\
      localhost:8501/v1/models/served:predict
  curl localhost:8501/v1/models/served/metadata
There are no passwords: every client that reaches the port gets answers. /healthz says
that the server runs, /monitoring/prometheus/metrics counts its work.
"""
# Default and help; a test compares names and defaults with `serving.limits.Limits`.
LIMITS = {
    "batch": (64, "maximum number of texts in a batch, and in a request"),
    "wait_ms": (5.0, "milliseconds that a request waits for others to join it"),
    "timeout": (30.0, "seconds until the server gives up a request"),
    "max_body": (1_000_000, "maximum size of a request in bytes"),
    "max_text": (5_000, "maximum number of characters of a text"),
    "queue": (1_024, "texts that may wait"),
    "max_cells": (
        4_000_000,
        "maximum of texts x longest source x longest target of a batch, in tokens",
    ),
    "max_connections": (512, "connections that may be open at once"),
}


def add_options(parser):
    """Add the options of `seqattn serve`."""
    parser.usage = "seqattn serve PATH [options]"
    parser.add_argument(
        "path", metavar="PATH", help="folder of seqattn export, or a shipped model"
    )
    parser.add_argument(
        "--name", help="name of the model in URLs (default: the folder's)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8501,
        help="port to listen at; 0 is any free one (default: %(default)s)",
    )
    parser.add_argument(
        "--versions", metavar="N,N", help="numbers, or all (default: the highest)"
    )
    parser.add_argument(
        "--log-requests",
        action="store_true",
        help="write a line for each request to standard error",
    )
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAME,NAME",
        default=[],
        type=lambda names: [name.strip() for name in names.split(",") if name.strip()],
        help="host names in URLs that the server accepts (default: any)",
    )
    group = parser.add_argument_group("limits")
    for name, (default, help) in LIMITS.items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(default),
            default=default,
            metavar="N" if isinstance(default, int) else "X",
            help=f"{help} (default: %(default)s)",
        )
