"""The numbers of each epoch that is done: a JSON object in each line of a file."""

import contextlib
import json

from keras_seqattn.files import replacing


def read(path):
    """The entries so far; a line that is no entry, e.g. half written, is left out."""
    if not path.exists():
        return []
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            entries.append(json.loads(line))
    return [entry for entry in entries if _is_entry(entry)]


def write(path, entries):
    """The whole file: a line added to one half written would spoil both."""
    with replacing(path) as file:
        lines = (f"{json.dumps(entry)}\n" for entry in entries)
        file.write_text("".join(lines), encoding="utf-8")


def _is_entry(value):
    if not isinstance(value, dict) or not {"epoch", "step"} <= value.keys():
        return False
    return all(type(number) in (int, float, type(None)) for number in value.values())
