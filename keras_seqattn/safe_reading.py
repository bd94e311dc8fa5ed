"""Reads untrusted files and strings so that they cannot do harm.

A path may lead to a pipe, on which reading never ends. A file may be larger than the
memory. JSON may be nested deeper than Python can follow, and may hold strings that no
UTF-8 can write.
"""

import json
import os
import stat

from keras_seqattn.errors import four_part_error

JSON = 16 * 2**20  # bytes of options and descriptions; real ones have some thousand
VOCABULARY = 256 * 2**20  # bytes of a vocabulary; real ones have some million


def open_regular(owner, path):
    """A binary file that is a regular one, or a link to one.

    Args:
        owner: name of the caller, for the error.
        path: of the file. FileNotFoundError and NotADirectoryError pass.
    """
    path = os.fspath(path)
    try:
        descriptor = _regular(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise type(error)(
            f"{owner} cannot read {path}. Expected a file that may be read, received "
            f"{error.strerror!r}. Check the path and its permissions."
        ) from error
    if descriptor is not None:
        return os.fdopen(descriptor, "rb")
    raise four_part_error(
        f"{owner} cannot read {path}",
        "a regular file",
        "a folder, a pipe or a device",
        "Check the path, and put a copy of the file there",
    )


def _regular(path):
    """A descriptor, or None for what is no regular file."""
    # Without O_NONBLOCK, opening a pipe waits for a writer. Windows has no such flag.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device can have an effect
        return None
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):  # it may lead elsewhere by now
        return descriptor
    os.close(descriptor)
    return None


def read_bytes(owner, path, most):
    """The content of a regular file of at most so many bytes.

    Args:
        owner: name of the caller, for the error.
        path: of the file.
        most: greatest number of bytes.
    """
    with open_regular(owner, path) as file:
        content = file.read(most + 1)  # not the size: the file may grow meanwhile
    if len(content) > most:
        raise four_part_error(
            f"{owner} cannot read {os.fspath(path)}",
            f"a file of at most {most} bytes",
            "a larger one",
            "Check whether it is the right file, and copy it again",
        )
    return content


def parse_json(content):
    """What JSON says, from bytes; ValueError where it is none."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("lists or objects that are nested too deeply") from None


def well_formed(text):
    """A string that UTF-8 can write.

    Two surrogates that belong together become their character; a lone one becomes
    U+FFFD, as invalid UTF-8 does.

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
    """What an error says, in at most 500 characters that can be printed."""
    text = "".join(c if c.isprintable() else " " for c in str(error))
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:500]}..."
