"""`manifest.json`: what a folder holds, and the checksum of every file in it.

This file imports only the standard library, and it can run alone. So users of an
exported model can verify it without this library.
"""

import hashlib
import json
import os
import re
import stat
from importlib import metadata
from pathlib import Path, PureWindowsPath

NAME = "manifest.json"
FORMAT = 1
_MAX_BYTES = 16 * 2**20  # of a manifest; usual ones have a few thousand
_PACKAGES = ("keras_seqattn", "keras", "tensorflow", "tensorflow-text")


def write(folder, content):
    """Write the manifest of a folder, with the checksums of all other files.

    Args:
        folder: path of a folder whose other files are complete.
        content: dict of values that JSON can hold; `format` and `files` are added.
    """
    content = {"format": FORMAT, **content, "files": _checksums(folder)}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    Path(folder, NAME).write_text(f"{text}\n", encoding="utf-8")


def read(folder, owner="verify"):
    """Return the content of a manifest, a dict, without a look at the files."""
    path = Path(folder, NAME)
    try:
        with _open(path) as file:
            # A longer file is cut off, and so it becomes invalid JSON.
            content = json.loads(file.read(_MAX_BYTES))
        version, files = content.get("format"), content.get("files")
    except (FileNotFoundError, NotADirectoryError):
        raise _four_part_error(
            f"{owner} found no manifest",
            f"a folder with {NAME}",
            f"{str(folder)!r}",
            "Pass a folder of export, or one of its version folders",
        ) from None
    except (ValueError, AttributeError, RecursionError, _NotRegularFile):
        version, files = FORMAT, None
    if version != FORMAT:
        raise _four_part_error(
            f"{owner} cannot read this version of the format",
            f"format {FORMAT}",
            f"{version!r} in {str(path)!r}",
            "Use the release of keras_seqattn that has written it",
        )
    if not isinstance(files, dict) or not all(map(_is_checksum, files.values())):
        raise _four_part_error(
            f"{owner} cannot read {path}",
            "JSON with the checksums of all files",
            "a damaged file",
            "Copy the folder again, or save it again",
        )
    return content


def verify(folder, owner="verify"):
    """Compare the checksums of all files, and return the content of the manifest.

    The folder may have more files than the manifest names.

    Args:
        folder: path of a folder of `Translator.export` or `Translator.save`.
        owner: name of the caller, for errors.
    """
    content = read(folder, owner)
    for name, expected in content["files"].items():
        # The error does not show the checksum of the file: an untrusted manifest could
        # name any file.
        received = _defect(folder, name, expected)
        if received is not None:
            raise _four_part_error(
                f"{owner} got a damaged folder",
                f"{_printable(name)} with sha256 {expected}, as its {NAME} says",
                f"{received} in {str(folder)!r}",
                "Copy the folder again; if you have changed the file yourself, write "
                "its new checksum into the manifest",
            )
    return content


def _defect(folder, name, expected):
    """Return in words what is wrong with a file, or None."""
    path = Path(folder, name)
    try:
        # This check comes first, so that no error tells whether files elsewhere exist.
        if not _is_inside(folder, name):
            return "a name or a link that may lead out of the folder"
        return None if _checksum(path) == expected else "another content"
    except (FileNotFoundError, NotADirectoryError):
        return "no such file"
    except OSError as error:
        return f"a file that cannot be read ({error.strerror})"
    except (_NotRegularFile, ValueError):  # a name may contain NUL
        return "something that is not a file"


def _printable(name):
    """Return a name without characters that control a terminal."""
    return name if name.isprintable() else repr(name)


def _is_inside(folder, name):
    """Whether a name and its links stay inside the folder, on every system."""
    path = PureWindowsPath(name)  # understands drives, and both kinds of slashes
    if path.anchor or ".." in path.parts or not path.parts or path.as_posix() != name:
        return False
    place = Path(os.path.realpath(Path(folder, name)))
    return place.is_relative_to(os.path.realpath(folder))


def versions():
    """Return the versions of the packages that matter, None for a missing package."""
    numbers = {}
    for package in _PACKAGES:
        try:
            numbers[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            numbers[package] = None
    return numbers


def _checksums(folder):
    """Return the checksums of all files by path, relative and with "/", sorted."""
    paths = {p.relative_to(folder).as_posix(): p for p in Path(folder).rglob("*")}
    files = [name for name in sorted(paths) if paths[name].is_file() and name != NAME]
    return {name: _checksum(paths[name]) for name in files}


def _checksum(path):
    with _open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _NotRegularFile(Exception):
    """A path is a folder, a pipe or a device, on which reading may never end."""


def _open(path):
    """Open a regular file, as `safe_reading.open_regular` does."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if stat.S_ISREG(os.stat(path).st_mode):
        descriptor = os.open(path, flags)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
    raise _NotRegularFile(path)


def _is_checksum(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)


def _four_part_error(what, expected, received, remedy):
    """Return an error, as `errors.four_part_error` does."""
    return ValueError(f"{what}. Expected {expected}, received {received}. {remedy}.")
