"""Text files, plain or compressed by gzip, and their lines."""

import codecs
import contextlib
import gzip
import os
import zlib

from keras_seqattn.errors import four_part_error

_GZIP = b"\x1f\x8b"  # no text in UTF-8 begins with it


@contextlib.contextmanager
def open_text(path):
    """Open a file as bytes; its first bytes say whether it is compressed."""
    if not os.path.isfile(path):
        raise four_part_error(
            "read_pairs got a path without a file",
            "a path of a file",
            repr(path),
            "Check the folder and the spelling",
            kind=FileNotFoundError,
        )
    try:
        with open(path, "rb") as file:
            compressed = file.read(2) == _GZIP
            file.seek(0)
            yield gzip.GzipFile(fileobj=file) if compressed else file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise four_part_error(
            "read_pairs got a damaged file",
            "a whole gzip file",
            f"{path!r} with the error {str(error)!r}",
            "Download or compress it again",
        ) from error


def lines(path):
    """Yield the lines of a file as strings, without line ends.

    Only a line feed ends a line, alone or after a carriage return: Unicode separators
    such as U+2028 are text. Bytes that are not UTF-8 become lone surrogates, which
    `is_text` finds.
    """
    with open_text(path) as file:
        start = codecs.BOM_UTF8
        for line in file:
            line, start = line.removeprefix(start), b""
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            yield line.decode("utf-8", "surrogateescape")


def is_text(string):
    """Whether UTF-8 can encode a string: it has no lone surrogates."""
    try:
        string.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
