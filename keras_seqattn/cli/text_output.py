"""Lines that go to a file at the end; whether they can is said before the work."""

import itertools
import os
from pathlib import Path

from keras_seqattn.errors import four_part_error


def check(path, option="--output"):
    """Nothing is opened: what is there stays until there is something better."""
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


def write(path, lines):
    """A text in each line; an old file stays until there is a first one."""
    lines = iter(lines)
    first = list(itertools.islice(lines, 1))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in itertools.chain(first, lines))
