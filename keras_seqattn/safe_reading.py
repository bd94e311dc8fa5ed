"""Reads untrusted files and strings safely.

A path may lead to a pipe, on which reading never ends. A file may be larger than the
memory. JSON may be nested deeper than Python can recurse, and it may have strings that
UTF-8 cannot encode.
"""

import contextlib
import gzip
import json
import os
import stat
import zlib

from keras_seqattn.errors import four_part_error

JSON = 16 * 2**20  # bytes of options and descriptions; usual ones have a few thousand
VOCABULARY = 256 * 2**20  # bytes of a vocabulary; usual ones have a few million


def open_regular(owner, path):
    """Open a regular file, or a link to one, and return it as a binary file.

    Args:
        owner: name of the caller, for the error.
        path: path of the file. FileNotFoundError and NotADirectoryError are raised
            unchanged.
    """
    path = os.fspath(path)
    try:
        descriptor = _open_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise four_part_error(
            f"{owner} cannot read {path}",
            "a file that may be read",
            repr(error.strerror),
            "Check the path and its permissions",
            kind=type(error),
        ) from error
    if descriptor is not None:
        return os.fdopen(descriptor, "rb")
    raise four_part_error(
        f"{owner} cannot read {path}",
        "a regular file",
        "a folder, a pipe or a device",
        "Check the path, and put a copy of the file there",
    )


@contextlib.contextmanager
def plain_or_gzip(owner, file, path):
    """Yield the content of an open binary file, which gzip may have compressed.

    Args:
        owner: name of the caller, for the error.
        file: at its beginning, which says whether it is compressed.
        path: of the file, for the error.
    """
    is_gzip = file.read(2) == b"\x1f\x8b"  # no text in UTF-8 begins with it
    file.seek(0)
    try:
        yield gzip.GzipFile(fileobj=file) if is_gzip else file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise four_part_error(
            f"{owner} got a damaged file",
            "a whole gzip file",
            f"{path!r} with the error {str(error)!r}",
            "Download or compress it again",
        ) from error


def _open_regular(path):
    """Return a file descriptor, or None if the path is not a regular file."""
    # Without O_NONBLOCK, opening a pipe waits for a writer. Windows has no such flag.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device can have an effect
        return None
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):  # the path may have changed
        return descriptor
    os.close(descriptor)
    return None


def read_bytes(owner, path, most):
    """Return the content of a regular file that has at most `most` bytes.

    Args:
        owner: name of the caller, for the error.
        path: path of the file.
        most: greatest number of bytes.
    """
    with open_regular(owner, path) as file:
        content = file.read(most + 1)  # a file may grow, so its size is no limit
    if len(content) > most:
        raise four_part_error(
            f"{owner} cannot read {os.fspath(path)}",
            f"a file of at most {most} bytes",
            "a larger one",
            "Check whether it is the right file, and copy it again",
        )
    return content


def parse_json(content):
    """Return the value of JSON in bytes; raise a ValueError for invalid JSON."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("its lists or objects are nested too deeply") from None


def well_formed(text):
    """Return a string that UTF-8 can encode.

    A pair of surrogates becomes its character; a single surrogate becomes U+FFFD, as
    invalid UTF-8 does.

    Example:
        >>> well_formed("a\\ud800")
        'a�'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def in_one_line(error):
    """Return the message of an error as at most 500 printable characters."""
    text = "".join(c if c.isprintable() else " " for c in str(error))
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:500]}..."
