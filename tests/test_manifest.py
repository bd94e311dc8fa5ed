"""Checksums of a folder: what is written, and errors if a file is another."""

import hashlib
import json
import os
import re
import subprocess
import sys

import pytest

from keras_seqattn import manifest
from tests.raised import check_error, raised

OUTSIDE = "a name or a link that may lead out of the folder"
NO_FILE = "something that is not a file"


def checksum(content):
    return hashlib.sha256(content).hexdigest()


FILES = {"model.pb": b"graph", "variables/data": b"numbers" * 1000}
SUMS = {name: checksum(content) for name, content in FILES.items()}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "variables").mkdir()
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    manifest.write(tmp_path, {"licence": "CC0-1.0", "ä": [1, None]})
    return tmp_path


@pytest.fixture
def secret(folder):
    path = folder.parent / f"{folder.name}-secret"
    path.write_bytes(b"secret")
    return path


def put(kind, path):
    """Something else than a file; reading a pipe would never end."""
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(path)
    else:
        pytest.skip("no pipes in this file system")


def test_content(folder):
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    own = {"licence": "CC0-1.0", "ä": [1, None]}
    assert content == {"format": 1, **own, "files": SUMS}
    assert list(content)[-1] == "files"
    (folder / "README.md").write_text("other files may be there")
    assert manifest.verify(folder) == manifest.read(folder) == content


@pytest.mark.parametrize("content", [b"", b"numbers" * 999, b"Numbers" * 1000, None])
def test_a_damaged_file(folder, content):
    path = folder / "variables/data"
    path.unlink() if content is None else path.write_bytes(content)
    received = "no such file" if content is None else "another content"
    check_error(
        lambda: manifest.verify(folder, "seqattn serve"),
        "seqattn serve got a damaged folder. Expected variables/data with sha256 "
        f"{SUMS['variables/data']}, as its manifest.json says, received {received} in "
        f"'{folder}'. Copy the folder again; if you have changed the file yourself, "
        "write its new checksum into the manifest.",
    )


@pytest.mark.parametrize("name", ["", "nothing", "model.pb"])
def test_no_manifest(folder, name):
    (folder / "manifest.json").unlink()
    path = folder / name
    what = "verify found no manifest"
    check_error(lambda: manifest.verify(path), what, f"received {str(path)!r}")


START = b'{"format": 1'
DAMAGED = [b"", START, b"\xff", b"[1]", START + b"}", START + b', "files": 0}']
DAMAGED += [
    START + b', "files": {"model.pb": %s}}' % value
    for value in (b"null", b'["a"]', b'"\\u001b[31m"')
]
DAMAGED += [b"[" * 100_000, b" " * 2**24 + b"{}", "pipe", "folder"]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_manifest(folder, content):
    path = folder / "manifest.json"
    put(content, path) if isinstance(content, str) else path.write_bytes(content)
    check_error(
        lambda: manifest.verify(folder),
        f"verify cannot read {path}. Expected JSON with the checksums of all files, "
        "received a damaged file. Copy the folder again, or save it again.",
    )


@pytest.mark.parametrize("given", [2, None, "1"])
def test_another_format(folder, given):
    (folder / "manifest.json").write_text(json.dumps({"format": given, "files": {}}))
    check_error(
        lambda: manifest.verify(folder),
        "verify cannot read this version of the format",
        f"format 1, received {given!r} in '{folder}/manifest.json'",
    )


def damaged(folder, name, expected="0" * 64):
    """What is said after "received" of a manifest that names one file."""
    content = {"format": 1, "files": {name: expected}}
    (folder / "manifest.json").write_text(json.dumps(content))
    message = raised(lambda: manifest.verify(folder)).message
    message.encode()
    start = f"verify got a damaged folder. Expected .*{expected}, as its .*, received "
    return re.sub(f"^{start}(.*) in '.*$", r"\1", message)


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize(
    "name",
    "|./model.pb|C:{0}|..\\{0}|../{0}|variables/../../{0}|{1}|link|up/{0}".split("|"),
)
def test_a_name_that_leads_out_of_the_folder(folder, secret, name, exists):
    """Nothing is said about what is there, not even whether it is right."""
    (folder / "link").symlink_to(secret)
    (folder / "up").symlink_to(folder.parent, target_is_directory=True)
    name = name.format(secret.name, secret)
    if not exists:
        secret.unlink()
    assert damaged(folder, name) == OUTSIDE
    assert damaged(folder, name, checksum(b"secret")) == OUTSIDE


def test_links_within_a_folder_and_to_it(folder, tmp_path_factory):
    """As where several versions share their files."""
    (folder / "model.pb").rename(folder / "elsewhere")
    (folder / "model.pb").symlink_to("elsewhere")
    link = tmp_path_factory.mktemp("links") / "latest"
    link.symlink_to(folder, target_is_directory=True)
    manifest.verify(link)


ODD = {"variables": NO_FILE, "a\0b": NO_FILE, "\ud800": NO_FILE}
ODD |= {"\x1b[31mred": "no such file", "model.pb/x": "no such file"}
ODD |= {"x" * 5000: "a file that cannot be read (File name too long)"}


@pytest.mark.parametrize("name, received", ODD.items())
def test_an_odd_name(folder, name, received):
    assert damaged(folder, name) == received


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_something_else_in_place_of_a_file(folder, kind):
    put(kind, folder / "model.pb")
    assert damaged(folder, "model.pb") == NO_FILE


def test_the_standard_library_is_enough(monkeypatch, folder):
    monkeypatch.setattr(manifest, "_PACKAGES", ("keras", "no-such-package"))
    assert manifest.versions()["no-such-package"] is None
    script = (
        "import runpy, sys; runpy.run_path(sys.argv[1])['verify'](sys.argv[2])\n"
        "print(sorted({'numpy', 'keras', 'tensorflow'} & set(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", script, manifest.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
