"""`manifest.json`: what a folder is, and the checksum of every file in it.

The standard library is enough, so whoever runs an exported model can check it.
"""

import hashlib
import json
import os
import re
import stat
from importlib import metadata
from pathlib import Path, PureWindowsPath

from keras_seqattn.errors import four_part_error

NAME = "manifest.json"
FORMAT = 1
_MOST = 16 * 2**20  # bytes of a manifest; real ones have some thousand
_PACKAGES = ("keras_seqattn", "keras", "tensorflow", "tensorflow-text")


def write(folder, content):
    """Writes the manifest of all other files in a folder.

    Args:
        folder: that is complete but for this.
        content: dict, what JSON can hold; `format` and `files` are added.
    """
    found = {"format": FORMAT, **content, "files": _checksums(folder)}
    text = json.dumps(found, indent=2, ensure_ascii=False)
    Path(folder, NAME).write_text(f"{text}\n", encoding="utf-8")


def read(folder, owner="verify"):
    """The content of a manifest, as a dict; the files are not looked at."""
    path = Path(folder, NAME)
    try:
        with _open(path) as file:
            content = json.loads(file.read(_MOST))  # cut off, it is no JSON any more
        given, files = content.get("format"), content.get("files")
    except (FileNotFoundError, NotADirectoryError):
        raise four_part_error(
            f"{owner} found no manifest",
            f"a folder with {NAME}",
            f"{str(folder)!r}",
            "Pass a folder that export has written; of version folders, one of them",
        ) from None
    except (ValueError, AttributeError, RecursionError, _NoFile):
        given, files = FORMAT, None
    if given != FORMAT:
        raise four_part_error(
            f"{owner} got a manifest of another format",
            f"format {FORMAT}",
            f"{given!r} in {str(path)!r}",
            "Use the release of keras_seqattn that has written it",
        )
    if not isinstance(files, dict) or not all(map(_is_checksum, files.values())):
        raise four_part_error(
            f"{owner} cannot read {path}",
            "JSON with the checksums of all files",
            "a damaged file",
            "Copy the folder again, or write it anew",
        )
    return content


def verify(folder, owner="verify"):
    """The content of the manifest, if all files are what they were.

    Files that the manifest does not name may be there.

    Args:
        folder: written by `Translator.export`, or by `Translator.save`.
        owner: who asks, for the errors.
    """
    content = read(folder, owner)
    for name, expected in content["files"].items():
        # What was received is not shown: an untrusted manifest could ask for it.
        received = _state(folder, name, expected)
        if received is not None:
            raise four_part_error(
                f"{owner} got a damaged folder",
                f"{_shown(name)} with sha256 {expected}, as its {NAME} says",
                f"{received} in {str(folder)!r}",
                "Copy the folder again; if you have changed the file yourself, write "
                "its new checksum into the manifest",
            )
    return content


def _state(folder, name, expected):
    """What is wrong with a file, in words; None: nothing."""
    path = Path(folder, name)
    try:
        # Asked first: nothing is said about files elsewhere, not even that they exist.
        if not _is_inside(folder, name):
            return "a name or a link that may lead out of the folder"
        return None if _checksum(path) == expected else "another content"
    except (FileNotFoundError, NotADirectoryError):
        return "no such file"
    except OSError as error:
        return f"a file that cannot be read ({error.strerror})"
    except (_NoFile, ValueError):  # a name may hold NUL
        return "something that is no file"


def _shown(name):
    """A name for an error: a terminal obeys some characters."""
    return name if name.isprintable() else repr(name)


def _is_inside(folder, name):
    """Whether a name stays in the folder, on every system, and so do links."""
    path = PureWindowsPath(name)  # knows drives, and both kinds of slashes
    if path.anchor or ".." in path.parts or not path.parts or path.as_posix() != name:
        return False
    place = Path(os.path.realpath(Path(folder, name)))
    return place.is_relative_to(os.path.realpath(folder))


def versions():
    """Of the packages that make a folder, None for one that is not installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def _checksums(folder):
    """By path, relative and with "/", in order."""
    paths = {p.relative_to(folder).as_posix(): p for p in Path(folder).rglob("*")}
    files = [name for name in sorted(paths) if paths[name].is_file() and name != NAME]
    return {name: _checksum(paths[name]) for name in files}


def _checksum(path):
    with _open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _NoFile(Exception):
    """A folder, a pipe or a device, on which reading may never end."""


def _open(path):
    """The same as `safe_reading.open_regular`.

    This file must also run alone, so it imports only the standard library.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if stat.S_ISREG(os.stat(path).st_mode):
        descriptor = os.open(path, flags)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
    raise _NoFile(path)


def _is_checksum(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)
