"""One tiny training for all tests of the command, run as a person would."""

import shutil

import pytest

from seqattn_command import main
from tests.cli.tiny import TASK, TINY


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The folder of a run of two epochs; nobody writes to it."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    code = main(["train", *TASK, *TINY, "--epochs", "2", "--out", str(folder)])
    assert code == 0
    return folder


@pytest.fixture
def copied(trained, tmp_path):
    """The same, to write to."""
    return shutil.copytree(trained, tmp_path / "copied")


@pytest.fixture
def failing(capsys):
    """Runs a command that fails; returns what it says, without `seqattn: error: `."""

    def run(*arguments):
        assert main([str(argument) for argument in arguments]) == 2
        printed = capsys.readouterr()
        [line] = [x for x in printed.err.splitlines() if x.startswith("seqattn: ")]
        assert "Traceback" not in printed.err
        return line.removeprefix("seqattn: error: ")

    return run


@pytest.fixture
def files(tmp_path):
    """Writes files of lines; returns their paths."""

    def write(**contents):
        paths = [tmp_path / name for name in contents]
        for path, content in zip(paths, contents.values(), strict=True):
            if isinstance(content, list):
                content = "".join(f"{line}\n" for line in content)
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
        return paths

    return write
