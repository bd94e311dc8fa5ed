"""The numbers of each epoch that is done: a JSON object in each line of a file."""

import contextlib
import json

from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import JSON, parse_json, read_bytes


def read(path):
    """The entries so far; a line that is no entry, e.g. half written, is left out."""
    if not path.exists():
        return []
    entries = []
    for line in read_bytes("seqattn", path, JSON).splitlines():
        with contextlib.suppress(ValueError):
            entries.append(parse_json(line))
    return [entry for entry in entries if _is_entry(entry)]


def write(path, entries):
    """The whole file: a line added to one half written would spoil both."""
    with replacing(path) as file:
        lines = (f"{json.dumps(entry)}\n" for entry in entries)
        file.write_text("".join(lines), encoding="utf-8")


def _is_entry(value):
    return (
        isinstance(value, dict)
        and all(type(value.get(name)) is int for name in ("epoch", "step"))
        and all(type(number) in (int, float, type(None)) for number in value.values())
    )
