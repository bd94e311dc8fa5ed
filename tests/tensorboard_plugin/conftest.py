"""One logdir with everything in it, and a TensorBoard of each kind that reads it."""

import pytest

from tests.tensorboard_plugin.hostile import LAST, write_logs
from tests.tensorboard_plugin.servers import Server

ALL = "--samples_per_plugin=seq_attention=0"
SERVERS = {
    "fast": [],
    "multiplexer-prefix-all": ["--load_fast=false", "--path_prefix=/some/where", ALL],
    "fast-prefix-all": ["--path_prefix=/some/where", ALL],
    "multiplexer": ["--load_fast=false"],
}
DEFAULT = ("fast", "multiplexer-prefix-all")


@pytest.fixture(scope="session")
def logdir(tmp_path_factory):
    """A log that is written once and does not change."""
    return write_logs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(
    scope="session",
    params=[
        name if name in DEFAULT else pytest.param(name, marks=pytest.mark.slow)
        for name in SERVERS
    ],
)
def server(request, logdir, tmp_path_factory):
    """A TensorBoard that has read the logs."""
    printed = tmp_path_factory.mktemp("server") / "printed.txt"
    flags = SERVERS[request.param]
    with Server(logdir, printed, flags) as server:
        server.keeps_all = ALL in flags
        server.is_fast = "--load_fast=false" not in flags
        server.until(lambda: last_steps(server) == LAST)
        yield server


def last_steps(server):
    """The newest step of each sentence, by run and tag."""
    return {
        (run, sentence["tag"]): sentence["last"]
        for run, about in server.ask("runs").json["runs"].items()
        for sentence in about["sentences"]
    }
