"""JSON lines: one object in each line."""

import json

from keras_seqattn.data.files import lines


def rows(path, keys):
    """Yields (line number, source, target)."""
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            pair = [found[key] for key in keys]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise _malformed(path, number, keys, repr(error)) from error
        if not all(isinstance(text, str) for text in pair):
            kinds = " and ".join(type(text).__name__ for text in pair)
            raise _malformed(path, number, keys, f"values of type {kinds}")
        yield number, *pair


def _malformed(path, number, keys, received):
    return ValueError(
        f"read_pairs got a malformed row. Expected a JSON object with strings under "
        f"{' and '.join(map(repr, keys))}, received {received} in line {number} of "
        f"{path!r}. Correct the line, or choose other columns."
    )
