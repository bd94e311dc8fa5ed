"""Lines to translate, from a file or from standard input."""

import sys

from keras_seqattn.errors import four_part_error


def read_lines(path, encoding_errors="fatal"):
    """The lines of a file, "-" is standard input; skipped ones are empty texts.

    Returns:
        List of strings, and the numbers, from 1, of the lines that are not UTF-8.
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
