"""Files and folders that are written whole or not at all; what kills leave behind."""

import os
import subprocess
import sys

import pytest

from keras_seqattn import files
from keras_seqattn.files import is_whole, remove, repair, replacing, replacing_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# Files --------------------------------------------------------------------------------


def test_replaces(tmp_path):
    path = tmp_path / "new folder" / "a.txt"
    for text in ("first", "second"):
        with replacing(path) as unfinished:
            assert unfinished.parent == path.parent  # of the same file system
            unfinished.write_text(text)
        assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("written", [False, True])
def test_an_error_leaves_the_old_file(tmp_path, error, written):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as unfinished:
        if written:
            unfinished.write_text("ne")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_content_and_name_are_synced(tmp_path, monkeypatch):
    """The content before the new name, and the folder with the name after it."""
    calls = recorded(monkeypatch)
    with replacing(tmp_path / "a") as part:
        part.write_text("x")
    assert calls == [f"sync {part.name}", f"rename {part.name} a", "sync folder"]


def recorded(monkeypatch):
    calls, replace = [], os.replace

    def sync(path):
        calls.append("sync " + ("folder" if path.is_dir() else path.name))

    def rename(old, new):
        calls.append(f"rename {os.path.basename(old)} {os.path.basename(new)}")
        replace(old, new)

    monkeypatch.setattr(files, "_sync", sync)
    monkeypatch.setattr(os, "replace", rename)
    return calls


# Checksums ----------------------------------------------------------------------------


def write(path, text):
    with replacing(path, with_checksum=True) as part:
        part.write_text(text)


def test_checksum(tmp_path):
    path = tmp_path / "a.bin"
    assert is_whole(path) is None
    for text in ("first", "second"):
        write(path, text)
        assert is_whole(path) is True
        line = (tmp_path / "a.bin.sha256").read_text()
        assert line == f"{files.checksum(path)}  a.bin\n"  # as sha256sum writes it
    path.write_text("sEcond")
    assert is_whole(path) is False
    remove(path)
    assert names(tmp_path) == []


def test_a_file_of_earlier_versions_has_no_checksum(tmp_path):
    path = tmp_path / "a.bin"
    path.write_text("x")
    assert is_whole(path) is None


KILLED = """
import os, sys
from keras_seqattn import files
from pathlib import Path
path, stop = Path(sys.argv[1]), sys.argv[2]
replace = os.replace

def dies(old, new):
    name = os.path.basename(new)
    if stop == f"before {name}":
        os._exit(9)
    replace(old, new)
    if stop == f"after {name}":
        os._exit(9)

os.replace = dies
with files.replacing(path, with_checksum=True) as part:
    part.write_text("new")
"""


@pytest.mark.parametrize("old", ["with checksum", "without", "none"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["a.weights.h5", "a.weights.h5.sha256"])
def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path, old, when, name):
    path = tmp_path / "a.weights.h5"
    if old == "with checksum":
        write(path, "old")
    elif old == "without":
        path.write_text("old")
    command = [sys.executable, "-c", KILLED, str(path), f"{when} {name}"]
    assert subprocess.run(command).returncode == 9
    repair(tmp_path, ())
    if path.exists():
        assert is_whole(path) is not False
        assert path.read_text() in ("old", "new")
    else:
        assert old == "none" and names(tmp_path) == []
    write(path, "next")
    assert is_whole(path) and names(tmp_path) == ["a.weights.h5", "a.weights.h5.sha256"]


@pytest.mark.parametrize("fails", ["sync of the folder", "second checksum"])
def test_what_fails_after_the_new_name_is_no_failure(tmp_path, monkeypatch, fails):
    """The content is the new one, so the caller must not believe in the old one."""
    path = tmp_path / "a.bin"
    write(path, "old")
    sync, write_checksums = files._sync, files._write_checksums

    def failing_sync(of):
        if fails == "sync of the folder" and of.is_dir() and path.read_text() == "new":
            raise OSError("full")
        sync(of)

    def failing_checksums(of, values):
        if fails == "second checksum" and len(values) == 1:
            raise OSError("full")
        write_checksums(of, values)

    monkeypatch.setattr(files, "_sync", failing_sync)
    monkeypatch.setattr(files, "_write_checksums", failing_checksums)
    write(path, "new")
    assert path.read_text() == "new" and is_whole(path)


# Folders ------------------------------------------------------------------------------


def write_folder(path, text):
    with replacing_folder(path, "test", "thing", ["a", "b"]) as folder:
        for name in ("a", "b"):
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)


def test_folder(tmp_path):
    path = tmp_path / "thing"
    for text in ("first", "second"):
        write_folder(path, text)
        assert names(path) == ["a", "b"] and (path / "b").read_text() == text
    assert names(tmp_path) == ["thing"]


def test_all_of_a_folder_is_synced_before_it_gets_its_name(tmp_path, monkeypatch):
    synced, rename = [], os.rename
    monkeypatch.setattr(files, "_sync", lambda path: synced.append(path.name))

    def renamed(old, new):
        synced.append("renamed")
        rename(old, new)

    monkeypatch.setattr(os, "rename", renamed)
    write_folder(tmp_path / "thing", "x")
    *before, parent = synced
    assert before[-1] == "renamed" and parent == tmp_path.name
    assert {"a", "b"} <= set(before)


def test_what_a_kill_leaves_is_removed(tmp_path):
    write_folder(tmp_path / "thing", "x")
    (tmp_path / ".thing-abcdefgh").mkdir()
    (tmp_path / ".thing-abcdefgh" / "a").write_text("half")
    (tmp_path / ".unfinished-12-run.json").write_text("{")
    (tmp_path / ".unfinished-12-a-old").write_text("{")
    (tmp_path / "gone.weights.h5.sha256").write_text("00  gone.weights.h5\n")
    others = [".others", ".thing-notes", ".unfinished-x", "a.bin.sha256"]
    for name in others:
        (tmp_path / name).mkdir()
    repair(tmp_path, ["thing"])
    assert names(tmp_path) == [*others, "thing"]


def test_a_folder_that_was_being_replaced_comes_back(tmp_path):
    write_folder(tmp_path / "thing", "old")
    (tmp_path / "thing").rename(tmp_path / ".thing-abcdefgh-old")
    (tmp_path / ".thing-abcdefgh").mkdir()
    repair(tmp_path, ["thing"])
    assert names(tmp_path) == ["thing"]
    assert (tmp_path / "thing" / "a").read_text() == "old"
