"""Text files, one text per line: reading, writing, and a check before the work."""

import itertools
import os
import sys
from pathlib import Path

from keras_seqattn.errors import four_part_error


def read_lines(path, encoding_errors="fatal"):
    """Read the lines of a file; "-" means standard input.

    Returns:
        List of strings, and the numbers, from 1, of the lines that are not UTF-8. If
        `encoding_errors` is "skip", such lines become empty texts.
    """
    if path == "-":
        raw = sys.stdin.buffer.read()
    else:
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except (FileNotFoundError, IsADirectoryError) as error:
            raise four_part_error(
                "seqattn got a path without a file",
                "a text file, UTF-8",
                repr(path),
                "Check the folder and the spelling",
            ) from error
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    texts, broken = [], []
    for number, line in enumerate(lines, start=1):
        try:
            texts.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            texts.append("")
            broken.append(number)
    if broken and encoding_errors == "fatal":
        raise four_part_error(
            "seqattn got a text that is not UTF-8",
            "UTF-8",
            f"other bytes in line {broken[0]} of {path!r}"
            + (f" and in {len(broken) - 1} more" if len(broken) > 1 else ""),
            "Convert the file, or leave such lines empty with --encoding-errors skip",
        )
    return texts, broken


def check_output(path, option="--output"):
    """Check that a file can be written, without opening it; None is no file."""
    if path is None:
        return
    path = Path(path)
    if path.is_dir():
        received = "a folder"
    elif not path.parent.is_dir():
        received = "in a folder that does not exist"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        received = "which you may not write to"
    else:
        return
    raise four_part_error(
        "seqattn got an output that it cannot write",
        "a file in a folder that exists",
        f"{option} {path}, {received}",
        "Choose another path",
    )


def write_lines(path, lines):
    """Write one text per line. An old file stays until the first line is computed."""
    lines = iter(lines)
    first = list(itertools.islice(lines, 1))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in itertools.chain(first, lines))
