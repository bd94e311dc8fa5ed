"""Bodies of responses to `:predict`: JSON that is written in pieces.

`json.dumps` of a large value keeps all other threads waiting, and the text of an answer
takes ten times the memory of its arrays. So the next piece is written only after the
client has taken the piece before it.
"""

import json

from keras_seqattn.serving.http_errors import http_error
from keras_seqattn.serving.json_tensors import to_json

NUMBERS, STRINGS = 4096, 512  # values that are converted at once, in about 10 ms
SMALL = 256  # values; a smaller answer is one piece, which takes less than 1 ms
TEXT = 65_536  # characters that are sent at once


def is_small(outputs):
    """Whether an answer can be written at once.

    Args:
        outputs: dict of arrays.
    """
    return sum(array.size for array in outputs.values()) <= SMALL


def check_rows(call, outputs):
    """Refuse "instances" if the outputs do not have one row for each of them."""
    sizes = {array.shape[:1] for array in outputs.values()}
    if call.is_by_row and sizes != {(call.rows,)}:
        raise http_error(
            400,
            '"instances" does not work with this signature',
            "a signature whose outputs have one row for each instance",
            f"{call.signature.name!r}, whose outputs have not",
            'Send "inputs"; the answer then has "outputs"',
        )


def pieces(call, outputs):
    """Return an iterator of strings of `TEXT` characters or more: the answer.

    Args:
        call: `SignatureCall`.
        outputs: dict of arrays, the outputs of this call.
    """
    return _join_short(_answer(call, outputs), TEXT)


def _answer(call, outputs):
    yield '{"predictions": ' if call.is_by_row else '{"outputs": '
    if len(outputs) == 1:  # a single output is written without its name
        [(name, array)] = outputs.items()
        yield from _array(name, array)
    elif call.is_by_row:
        rows = (
            _object({name: array[i, ...] for name, array in outputs.items()})
            for i in range(call.rows)
        )
        if is_small(outputs):
            rows = [_small_rows(outputs)]
        yield from _list(rows)
    else:
        yield from _object(outputs)
    yield "}"


def _small_rows(outputs):
    """Yield all rows as one string; each array is converted once, not row by row."""
    columns = {name: to_json(name, array) for name, array in outputs.items()}
    rows = zip(*columns.values(), strict=True)
    yield _dumps([dict(zip(columns, row, strict=True)) for row in rows])[1:-1]


def _object(arrays):
    for i, (name, array) in enumerate(arrays.items()):
        yield f"{', ' if i else '{'}{_dumps(name)}: "
        yield from _array(name, array)
    yield "}"


def _array(name, array):
    """Yield nested lists; a large array is split along its first axis."""
    most = STRINGS if array.dtype.kind == "O" else NUMBERS
    if array.ndim == 0 or array.size <= most:
        yield _dumps(to_json(name, array))
        return
    row = array.size // len(array)
    if row > most:
        yield from _list(_array(name, part) for part in array)
    else:
        step = most // row
        parts = (array[i : i + step] for i in range(0, len(array), step))
        yield from _list([_dumps(to_json(name, part))[1:-1]] for part in parts)


def _list(elements):
    """Yield a list; each element is an iterable of strings."""
    yield "["
    for i, element in enumerate(elements):
        if i:
            yield ", "
        yield from element
    yield "]"


def _join_short(texts, size):
    """Yield texts of at least this size; only the last one may be shorter."""
    texts = iter(texts)
    while True:
        taken, length = [], 0
        for text in texts:
            taken.append(text)
            length += len(text)
            if length >= size:
                break
        if not taken:
            return
        yield "".join(taken)


def _dumps(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
