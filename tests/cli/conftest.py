"""One tiny training for all tests of the command, run as a person would."""

import shutil

import pytest

from seqattn_command import main
from tests.cli.tiny import TASK, TINY
from tests.raised import check_message


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The folder of a run of two epochs; nobody writes to it."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    code = main(["train", *TASK, *TINY, "--epochs", "2", "--out", str(folder)])
    assert code == 0
    return folder


@pytest.fixture
def copied(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "copied")


@pytest.fixture
def succeeds(capsys):
    """Runs a command, split at spaces; returns standard output and standard error."""

    def run(*words):
        assert main(" ".join(map(str, words)).split()) == 0
        return capsys.readouterr()

    return run


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
def fails(failing):
    """Runs a command that fails, and checks its message: the beginning, parts of it."""

    def check(words, what, *parts):
        words = words.split() if isinstance(words, str) else words
        check_message(failing(*words), what, *map(str, parts))

    return check


@pytest.fixture
def files(tmp_path):
    def write(**contents):
        for name, content in contents.items():
            if isinstance(content, list):
                content = "".join(f"{line}\n" for line in content)
            content = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(content)
        return [tmp_path / name for name in contents]

    return write
