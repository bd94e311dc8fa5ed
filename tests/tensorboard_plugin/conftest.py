"""One browser, and a TensorBoard of each kind that reads one log with everything."""

import pytest

from tests.tensorboard_plugin.browser import Server, chromium
from tests.tensorboard_plugin.hostile import LAST, write_logs
from tests.tensorboard_plugin.stage import Stage

ALL = "--samples_per_plugin=seq_attention=0"
SERVERS = {
    "fast": [],
    "multiplexer-prefix-all": ["--load_fast=false", "--path_prefix=/some/where", ALL],
}


@pytest.fixture(scope="package")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def shared_stage(browser):
    with Stage(browser) as stage:
        yield stage


@pytest.fixture
def stage(shared_stage):
    shared_stage.begin()
    yield shared_stage
    shared_stage.check()


@pytest.fixture
def tab(shared_tab):
    yield shared_tab
    shared_tab.check()


@pytest.fixture(scope="session")
def logdir(tmp_path_factory):
    return write_logs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="session", params=SERVERS)
def server(request, logdir, tmp_path_factory):
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
