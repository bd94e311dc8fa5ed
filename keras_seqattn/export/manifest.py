"""`manifest.json`: what a folder is, and the checksum of every file in it.

The standard library is enough, so whoever runs an exported model can check it.
"""

import hashlib
import json
from importlib import metadata
from pathlib import Path

NAME = "manifest.json"
FORMAT = 1
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
        content = json.loads(path.read_text(encoding="utf-8"))
        given, files = content.get("format"), content.get("files")
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            f"{owner} found no manifest. Expected a folder with {NAME}, received "
            f"{str(folder)!r}. Pass a folder that export has written; of version "
            "folders, one of them."
        ) from None
    except (ValueError, AttributeError):
        given, files = FORMAT, None
    if given != FORMAT:
        raise ValueError(
            f"{owner} got a manifest of another format. Expected format {FORMAT}, "
            f"received {given!r} in {str(path)!r}. Use the release of keras_seqattn "
            "that has written it."
        )
    if not isinstance(files, dict):
        raise ValueError(
            f"{owner} cannot read {path}. Expected JSON with the checksums of all "
            "files, received a damaged file. Copy the folder again, or write it anew."
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
        path = Path(folder, name)
        received = f"sha256 {_checksum(path)}" if path.is_file() else "no such file"
        if received != f"sha256 {expected}":
            raise ValueError(
                f"{owner} got a damaged folder. Expected {name} with sha256 "
                f"{expected}, as its {NAME} says, received {received} in "
                f"{str(folder)!r}. Copy the folder again; if you have changed the file "
                "yourself, write its new checksum into the manifest."
            )
    return content


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
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
