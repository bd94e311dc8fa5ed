"""Text files, one text per line: reading, writing, and a check before the work."""

import contextlib
import itertools
import os
import stat
import sys
from pathlib import Path

from keras_seqattn.data.text_files import is_text, lines_in, open_text
from keras_seqattn.errors import four_part_error


def read_lines(path, encoding_errors="fatal"):
    """Read the lines of a file, plain or gzip; "-" means standard input.

    Returns:
        List of strings, and the numbers, from 1, of the lines that are not UTF-8. If
        `encoding_errors` is "skip", such lines become empty texts.
    """
    with _open(path) as file:
        texts = list(lines_in(file, path, "seqattn"))
    broken = [number for number, text in enumerate(texts, 1) if not is_text(text)]
    if broken and encoding_errors == "fatal":
        raise four_part_error(
            "seqattn got a text that is not UTF-8",
            "UTF-8",
            f"other bytes in line {broken[0]} of {path!r}"
            + (f" and in {len(broken) - 1} more" if len(broken) > 1 else ""),
            "Convert the file, or leave such lines empty with --encoding-errors skip",
        )
    for number in broken:
        texts[number - 1] = ""
    return texts, broken


def _open(path):
    if path == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        return open(path, "rb")  # of the shell: <(zcat news.gz)
    return open_text(path, "seqattn")


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
