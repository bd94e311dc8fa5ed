"""Untrusted files: pipes, folders and huge files are refused, and nothing hangs."""

import errno
import json
import os
import re

import pytest

import keras_seqattn as ks
from keras_seqattn import safe_reading
from tests.translator import tiny


def pipe(path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes in this file system")
    os.mkfifo(path)


def says(text, call):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_no_regular_file(tmp_path, kind):
    path = tmp_path / "file"
    if kind == "pipe":
        pipe(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(os.devnull)
    says(
        f"Words.load cannot read {path}. Expected a regular file, received a folder, a "
        "pipe or a device. Check the path, and put a copy of the file there.",
        lambda: safe_reading.read_bytes("Words.load", path, 10),
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
    says(
        f"Words.load cannot read {path}. Expected a file of at most 4 bytes, received "
        "a larger one. Check whether it is the right file, and copy it again.",
        lambda: safe_reading.read_bytes("Words.load", path, 4),
    )


def test_what_the_system_refuses(tmp_path):
    path = tmp_path / "file"
    path.symlink_to(path)
    with pytest.raises(OSError) as caught:
        safe_reading.read_bytes("Words.load", path, 4)
    assert str(caught.value) == (
        f"Words.load cannot read {path}. Expected a file that may be read, received "
        f"{os.strerror(errno.ELOOP)!r}. Check the path and its permissions."
    )


def test_no_file(tmp_path):
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


# Wherever folders are read ------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    source, target = tiny.texts()
    model = tiny.model(source, target, units=2)
    shortlist = ks.decoding.Shortlist([[4]] * source.vocabulary_size, range(8))
    made = ks.Translator(model, source, target, shortlist=shortlist)
    made.save(tmp_path / "translator")
    (tmp_path / "translator" / "manifest.json").unlink()
    return tmp_path / "translator"


@pytest.mark.filterwarnings("ignore:Translator.load cannot check:UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        "translator.json",
        "model.keras",
        "shortlist.npz",
        "source_text/text.json",
        "target_text/vocabulary.txt",
    ],
)
def test_pipes_in_a_folder(folder, name):
    (folder / name).unlink()
    pipe(folder / name)
    said = (
        f"^[A-Za-z]+.load cannot read {re.escape(str(folder / name))}. Expected a reg"
    )
    with pytest.raises(ValueError, match=said):
        ks.Translator.load(folder)


@pytest.mark.filterwarnings("ignore:Translator.load cannot check:UserWarning")
@pytest.mark.parametrize("name", ["translator.json", "source_text/text.json"])
@pytest.mark.parametrize("content", [b"[" * 100_000, b" " * (2**24 + 1), b"[]", b"5"])
def test_json_that_python_cannot_follow(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(
        ValueError, match=r"\.load .*Expected .*received .*\. (Copy|Sa|C)"
    ):
        ks.Translator.load(folder)


@pytest.mark.parametrize("name", ["TextProcessor", "ListedProcessor", [], None])
def test_a_class_that_is_no_processor(folder, name):
    path = folder / "source_text" / "text.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "class_name": name}))
    with pytest.raises(ValueError, match="^TextProcessor.load got an unknown class"):
        ks.text.TextProcessor.load(folder / "source_text")
