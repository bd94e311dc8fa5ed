"""Untrusted files: pipes, folders and huge files are refused, and nothing hangs."""

import errno
import json
import os
import shutil

import pytest

import keras_seqattn as ks
from keras_seqattn import safe_reading
from tests.raised import check_error, check_message, raised
from tests.translator import tiny


def pipe(path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes in this file system")
    os.mkfifo(path)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_no_regular_file(tmp_path, kind):
    path, link = tmp_path / "file", lambda path: path.symlink_to(os.devnull)
    {"pipe": pipe, "folder": os.mkdir, "link to a device": link}[kind](path)
    check_error(
        lambda: safe_reading.read_bytes("Words.load", path, 10),
        f"Words.load cannot read {path}. Expected a regular file, received a folder, a "
        "pipe or a device. Check the path, and put a copy of the file there.",
    )


def test_a_path_that_leads_to_a_pipe_by_now(tmp_path, monkeypatch):
    """Between two looks it has changed: opening it does not wait for a writer."""
    path, regular = tmp_path / "file", os.stat(__file__)
    pipe(path)
    monkeypatch.setattr(os, "stat", lambda _: regular)
    with pytest.raises(ValueError, match="Expected a regular file"):
        safe_reading.open_regular("Words.load", path)


def test_a_larger_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(path)
    assert safe_reading.read_bytes("Words.load", tmp_path / "link", 5) == b"12345"
    check_error(
        lambda: safe_reading.read_bytes("Words.load", path, 4),
        f"Words.load cannot read {path}",
        "a file of at most 4 bytes, received a larger one",
    )


def test_an_error_of_the_system_and_no_file(tmp_path):
    path = tmp_path / "file"
    path.symlink_to(path)
    check_error(
        lambda: safe_reading.read_bytes("Words.load", path, 4),
        f"Words.load cannot read {path}. Expected a file that may be read, received "
        f"{os.strerror(errno.ELOOP)!r}. Check the path and its permissions.",
    )
    with pytest.raises(FileNotFoundError):
        safe_reading.read_bytes("Words.load", tmp_path / "none", 4)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xff", b"[" * 100_000])
def test_no_json(content):
    with pytest.raises(ValueError):
        safe_reading.parse_json(content)
    assert safe_reading.parse_json(json.dumps({"ä": [1]}).encode()) == {"ä": [1]}


def test_an_error_in_one_line():
    error = ValueError("a\n\x1b[31m b\ud800" + "c" * 600)
    assert safe_reading.in_one_line(error) == "a [31m b " + "c" * 491 + "..."
    assert safe_reading.in_one_line(KeyError()) == "KeyError"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    source, target = tiny.texts()
    model = tiny.model(source, target, units=2)
    shortlist = ks.decoding.Shortlist([[4]] * source.vocabulary_size, range(8))
    made = ks.Translator(model, source, target, shortlist=shortlist)
    path = tmp_path_factory.mktemp("saved") / "translator"
    made.save(path)
    (path / "manifest.json").unlink()
    return path


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "translator")


def check_load(folder, what, *parts):
    """Check what loading says, whichever class reads the file."""
    message = raised(lambda: ks.Translator.load(folder)).message
    owner = message.partition(".")[0]
    assert owner.isalpha()
    check_message(message, f"{owner}.load {what}", *parts)


FILES = "translator.json model.keras shortlist.npz source_text/text.json "
FILES += "target_text/vocabulary.txt"


@pytest.mark.filterwarnings("ignore:Translator.load cannot check:UserWarning")
@pytest.mark.parametrize("name", FILES.split())
def test_pipes_in_a_folder(folder, name):
    (folder / name).unlink()
    pipe(folder / name)
    check_load(folder, f"cannot read {folder / name}", "Expected a regular file")


@pytest.mark.filterwarnings("ignore:Translator.load cannot check:UserWarning")
@pytest.mark.parametrize("name", ["translator.json", "source_text/text.json"])
@pytest.mark.parametrize("content", [b"[" * 100_000, b" " * (2**24 + 1), b"[]", b"5"])
def test_damaged_json(folder, name, content):
    (folder / name).write_bytes(content)
    check_load(folder, "", " received ")


@pytest.mark.parametrize("name", ["TextProcessor", "ListedProcessor", [], None])
def test_a_class_that_is_no_processor(folder, name):
    path = folder / "source_text" / "text.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "class_name": name}))
    with pytest.raises(ValueError, match="^TextProcessor.load got an unknown class"):
        ks.text.TextProcessor.load(folder / "source_text")
