"""Files and folders that are written whole or not at all; what kills leave behind."""

import os
import shutil

import pytest

from keras_seqattn import files
from keras_seqattn.files import is_whole, remove, repair, replacing, replacing_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


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
    name = part.name
    assert calls == [f"sync {name}", f"move {name} a", f"sync {tmp_path.name}"]


def recorded(monkeypatch):
    calls, rename = [], os.rename

    def move(old, new):
        calls.append(f"move {os.path.basename(old)} {os.path.basename(new)}")
        rename(old, new)

    monkeypatch.setattr(files, "_sync", lambda path: calls.append(f"sync {path.name}"))
    monkeypatch.setattr(os, "replace", move)
    monkeypatch.setattr(os, "rename", move)
    return calls


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
    path.write_text("as earlier versions wrote it, without a checksum")
    assert is_whole(path) is None


@pytest.mark.parametrize("old", ["with checksum", "without", "none"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["a.weights.h5", "a.weights.h5.sha256"])
def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path, old, when, name):
    path = tmp_path / "run" / "a.weights.h5"
    path.parent.mkdir()
    if old == "with checksum":
        write(path, "old")
    elif old == "without":
        path.write_text("old")
    left = killed_while_writing(path, when, name)
    repair(left, ())
    path = left / path.name
    if path.exists():
        assert is_whole(path) is not False
        assert path.read_text() in ("old", "new")
    else:
        assert old == "none" and names(left) == []
    write(path, "next")
    assert is_whole(path) and names(left) == ["a.weights.h5", "a.weights.h5.sha256"]


def killed_while_writing(path, when, name):
    """A folder with the files that are there at this moment."""
    folder, replace = path.parent, os.replace
    left = folder.with_name("left")

    def copies(old, new):
        is_moment = os.path.basename(new) == name and not left.exists()
        if is_moment and when == "before":
            shutil.copytree(folder, left)
        replace(old, new)
        if is_moment and when == "after":
            shutil.copytree(folder, left)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "replace", copies)
        write(path, "new")
    return left


FAILS = {"_sync": lambda of: of.is_dir()}
FAILS |= {"_write_checksums": lambda of, values: len(values) == 1}


@pytest.mark.parametrize("method, when", FAILS.items())
def test_an_error_after_the_new_name_is_no_failure(tmp_path, monkeypatch, method, when):
    """The content is the new one, so the caller must not believe in the old one."""
    path = tmp_path / "a.bin"
    write(path, "old")
    called = getattr(files, method)

    def failing(of, *values):
        if when(of, *values) and path.read_text() == "new":
            raise OSError("full")
        called(of, *values)

    monkeypatch.setattr(files, method, failing)
    write(path, "new")
    assert path.read_text() == "new" and is_whole(path)


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
    calls = recorded(monkeypatch)
    write_folder(tmp_path / "thing", "x")
    *before, move, parent = calls
    assert move.startswith("move ") and move.endswith(" thing")
    assert {"sync a", "sync b"} <= {*before} and parent == f"sync {tmp_path.name}"


def test_leftovers_of_a_kill_are_removed(tmp_path):
    write_folder(tmp_path / "thing", "x")
    others = [".others", ".thing-notes", ".unfinished-x", "a.bin.sha256"]
    for name in (".thing-abcdefgh", *others):
        (tmp_path / name).mkdir()
    half = [".unfinished-12-run.json", ".unfinished-12-a-old", "gone.weights.h5.sha256"]
    for name in (".thing-abcdefgh/a", *half):
        (tmp_path / name).write_text("half")
    repair(tmp_path, ["thing"])
    assert names(tmp_path) == [*others, "thing"]


def test_a_folder_that_was_being_replaced_comes_back(tmp_path):
    write_folder(tmp_path / "thing", "old")
    (tmp_path / "thing").rename(tmp_path / ".thing-abcdefgh-old")
    (tmp_path / ".thing-abcdefgh").mkdir()
    repair(tmp_path, ["thing"])
    assert names(tmp_path) == ["thing"]
    assert (tmp_path / "thing" / "a").read_text() == "old"
