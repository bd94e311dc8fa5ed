"""Checksums of a folder: what is written, what is said when a file is another."""

import hashlib
import json
import os
import re
import subprocess
import sys

import pytest

from keras_seqattn import manifest

DAMAGED = (
    "seqattn serve got a damaged folder. Expected {name} with sha256 {expected}, as "
    "its manifest.json says, received {received} in {folder!r}. Copy the folder again; "
    "if you have changed the file yourself, write its new checksum into the manifest."
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "variables").mkdir()
    (tmp_path / "model.pb").write_bytes(b"graph")
    (tmp_path / "variables" / "data").write_bytes(b"numbers" * 1000)
    manifest.write(tmp_path, {"licence": "CC0-1.0", "ä": [1, None]})
    return tmp_path


def checksum(content):
    return hashlib.sha256(content).hexdigest()


def test_what_is_written(folder):
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert content == {
        "format": 1,
        "licence": "CC0-1.0",
        "ä": [1, None],
        "files": {
            "model.pb": checksum(b"graph"),
            "variables/data": checksum(b"numbers" * 1000),
        },
    }
    assert manifest.verify(folder) == manifest.read(folder) == content
    assert list(content)[-1] == "files"


def test_other_files_may_be_there(folder):
    (folder / "README.md").write_text("mine")
    manifest.verify(folder)


@pytest.mark.parametrize("spoilt", [b"", b"numbers" * 999, b"Numbers" * 1000])
def test_a_file_that_is_another(folder, spoilt):
    (folder / "variables/data").write_bytes(spoilt)
    said = DAMAGED.format(
        name="variables/data",
        expected=checksum(b"numbers" * 1000),
        received="another content",
        folder=str(folder),
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        manifest.verify(folder, "seqattn serve")


def test_a_file_that_is_missing(folder):
    (folder / "model.pb").unlink()
    said = DAMAGED.format(
        name="model.pb",
        expected=checksum(b"graph"),
        received="no such file",
        folder=str(folder),
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        manifest.verify(folder, "seqattn serve")


@pytest.mark.parametrize("name", ["", "nothing", "model.pb"])
def test_no_manifest(folder, name):
    (folder / "manifest.json").unlink()
    path = folder / name
    with pytest.raises(ValueError) as caught:
        manifest.verify(path)
    assert str(caught.value) == (
        "verify found no manifest. Expected a folder with manifest.json, received "
        f"{str(path)!r}. Pass a folder of export, or one of its version folders."
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"format": 1',
        b"\xff",
        b"[1]",
        b'{"format": 1}',
        b'{"format": 1, "files": 0}',
        b'{"format": 1, "files": {"model.pb": null}}',
        b'{"format": 1, "files": {"model.pb": ["a"]}}',
        b'{"format": 1, "files": {"model.pb": "\\u001b[31m"}}',
        b"[" * 100_000,
        b" " * 2**24 + b"{}",
    ],
)
def test_a_damaged_manifest(folder, content):
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ValueError) as caught:
        manifest.verify(folder)
    assert str(caught.value) == (
        f"verify cannot read {folder}/manifest.json. Expected JSON with the checksums "
        "of all files, received a damaged file. Copy the folder again, or save it "
        "again."
    )


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_manifest_that_is_no_file(folder, kind):
    """Reading a pipe would never end."""
    (folder / "manifest.json").unlink()
    no_file(folder / "manifest.json", kind)
    with pytest.raises(ValueError, match="^verify cannot read .* received a damaged"):
        manifest.verify(folder)


def no_file(path, kind):
    if kind == "folder":
        path.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(path)
    else:
        pytest.skip("no pipes in this file system")


def damaged(folder, name, expected="0" * 64):
    """What is said after "received" of a manifest that names one file."""
    content = {"format": 1, "files": {name: expected}}
    (folder / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(ValueError) as caught:
        manifest.verify(folder)
    str(caught.value).encode()
    start = f"verify got a damaged folder. Expected .*{expected}, as its .*, received "
    return re.sub(f"^{start}(.*) in '.*$", r"\1", str(caught.value))


OUTSIDE = "a name or a link that may lead out of the folder"


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "variables/../../secret",
        "{}",
        "C:secret",
        "..\\secret",
        "",
        "./model.pb",
    ],
)
def test_a_name_that_leads_out_of_the_folder(folder, name, exists):
    """Nothing is said about what is there, not even whether it is right."""
    secret = folder.parent / f"{folder.name}-secret"
    name = name.format(secret).replace("secret", secret.name)
    if exists:
        secret.write_bytes(b"secret")
    assert damaged(folder, name) == OUTSIDE
    assert damaged(folder, name, checksum(b"secret")) == OUTSIDE


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_that_leads_out_of_the_folder(folder, exists):
    secret = folder.parent / f"{folder.name}-secret"
    (folder / "link").symlink_to(secret)
    (folder / "up").symlink_to(folder.parent, target_is_directory=True)
    if exists:
        secret.write_bytes(b"secret")
    for name in ("link", f"up/{secret.name}"):
        assert damaged(folder, name, checksum(b"secret")) == OUTSIDE


def test_links_within_a_folder_and_to_it(folder, tmp_path_factory):
    """As where several versions share their files."""
    (folder / "model.pb").rename(folder / "elsewhere")
    (folder / "model.pb").symlink_to("elsewhere")
    link = tmp_path_factory.mktemp("links") / "latest"
    link.symlink_to(folder, target_is_directory=True)
    manifest.verify(link)


@pytest.mark.parametrize(
    "name, received",
    [
        ("variables", "something that is not a file"),
        ("a\0b", "something that is not a file"),
        ("\ud800", "something that is not a file"),
        ("\x1b[31mred", "no such file"),
        ("model.pb/x", "no such file"),
        ("x" * 5000, "a file that cannot be read (File name too long)"),
    ],
)
def test_an_odd_name(folder, name, received):
    assert damaged(folder, name) == received


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_something_else_in_place_of_a_file(folder, kind):
    (folder / "model.pb").unlink()
    no_file(folder / "model.pb", kind)
    assert damaged(folder, "model.pb") == "something that is not a file"


@pytest.mark.parametrize("given", [2, None, "1"])
def test_another_format(folder, given):
    (folder / "manifest.json").write_text(json.dumps({"format": given, "files": {}}))
    with pytest.raises(ValueError) as caught:
        manifest.verify(folder)
    assert str(caught.value) == (
        "verify cannot read this version of the format. Expected format 1, received "
        f"{given!r} in '{folder}/manifest.json'. Use the release of keras_seqattn that "
        "has written it."
    )


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setattr(manifest, "_PACKAGES", ("keras", "no-such-package"))
    assert manifest.versions()["no-such-package"] is None


def test_the_standard_library_is_enough(folder):
    script = (
        "import runpy, sys; runpy.run_path(sys.argv[1])['verify'](sys.argv[2])\n"
        "print(sorted({'numpy', 'keras', 'tensorflow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, manifest.__file__, str(folder)],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n", done.stderr
