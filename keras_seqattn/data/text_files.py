"""Text files, plain or compressed by gzip, and their lines."""

import codecs
import contextlib
import os

from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import plain_or_gzip

_OTHERS = {  # what a file is that begins with these bytes
    codecs.BOM_UTF16_LE: "in UTF-16",
    codecs.BOM_UTF16_BE: "in UTF-16",
    b"PK\x03\x04": "a zip archive or an Office document",
}


def check_file(path, owner="read_pairs"):
    """Check that a path leads to a regular file."""
    if os.path.isfile(path):
        return
    found, remedy = "which does not exist", "Check the folder and the spelling"
    if os.path.isdir(path):
        found = "a folder"
    elif os.path.exists(path):
        found, remedy = "a pipe or a device", "Write its content into a file"
    elif any(map(str.isspace, str(path))):
        remedy += "; if it is a text, write it into a file, and name the file"
    raise four_part_error(
        f"{owner} got a path without a file",
        "a path of a file",
        f"{path!r}, {found}",
        remedy,
        kind=FileNotFoundError,
    )


@contextlib.contextmanager
def open_text(path, owner="read_pairs"):
    """Open a file as bytes; its first bytes say whether it is compressed."""
    check_file(path, owner)
    with open(path, "rb") as file, plain_or_gzip(owner, file, path) as text:
        yield text


def lines(path):
    """Yield the lines of a file as strings, without line ends.

    Only a line feed ends a line, alone or after a carriage return: Unicode separators
    such as U+2028 are text. Bytes that are not UTF-8 become lone surrogates, which
    `is_text` finds.
    """
    with open_text(path) as file:
        yield from lines_in(file, path, "read_pairs")


def lines_in(file, path, owner):
    """Yield the lines of an open binary file, as `lines` does."""
    start = codecs.BOM_UTF8
    for line in file:
        if start:
            _check_start(line, path, owner)
        line, start = line.removeprefix(start), b""
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        yield line.decode("utf-8", "surrogateescape")


def _check_start(line, path, owner):
    for start, name in _OTHERS.items():
        if line.startswith(start):
            raise four_part_error(
                f"{owner} got a file that is no text in UTF-8",
                "UTF-8, plain or compressed by gzip",
                f"{path!r}, {name}",
                "Save it again as UTF-8",
            )


def is_text(string):
    """Whether UTF-8 can encode a string: it has no lone surrogates."""
    try:
        string.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
