"""Answers of `:predict` as JSON, in pieces.

`json.dumps` of a large value keeps all other threads waiting, and the text of an answer
takes ten times the memory of its arrays. So a piece is made when the client has taken
the piece before it.
"""

import json

from keras_seqattn.serving.refused import bad_request
from keras_seqattn.serving.tensors import to_json

NUMBERS, STRINGS = 4096, 512  # of a piece; about 10 ms
SMALL = 256  # values; a smaller answer is one piece, which takes less than 1 ms
TEXT = 65_536  # characters that are sent at once


def is_small(outputs):
    """Whether an answer can be written at once.

    Args:
        outputs: dict of arrays.
    """
    return sum(array.size for array in outputs.values()) <= SMALL


def check_rows(question, outputs):
    """Refuses "instances" if the outputs have no row for each of them."""
    sizes = {array.shape[:1] for array in outputs.values()}
    if question.is_by_row and sizes != {(question.rows,)}:
        raise bad_request(
            "The answer has no rows",
            'a signature whose outputs have one for each instance for "instances"',
            f"{question.signature.name!r}, which has others",
            'Send "inputs", and get "outputs"',
        )


def pieces(question, outputs):
    """The text of an answer, an iterator of strings of `TEXT` characters or more.

    Args:
        question: `Question`.
        outputs: dict of arrays, those of this question alone.
    """
    return _joined(_answer(question, outputs), TEXT)


def _answer(question, outputs):
    yield '{"predictions": ' if question.is_by_row else '{"outputs": '
    if len(outputs) == 1:  # the only one needs no name
        [(name, array)] = outputs.items()
        yield from _array(name, array)
    elif question.is_by_row:
        rows = (
            _object({name: array[i, ...] for name, array in outputs.items()})
            for i in range(question.rows)
        )
        if is_small(outputs):
            rows = [_small_rows(outputs)]
        yield from _list(rows)
    else:
        yield from _object(outputs)
    yield "}"


def _small_rows(outputs):
    """All rows; one conversion for each array, and not one for each row."""
    found = {name: to_json(name, array) for name, array in outputs.items()}
    rows = zip(*found.values(), strict=True)
    yield _dumps([dict(zip(found, row, strict=True)) for row in rows])[1:-1]


def _object(arrays):
    for i, (name, array) in enumerate(arrays.items()):
        yield f"{', ' if i else '{'}{_dumps(name)}: "
        yield from _array(name, array)
    yield "}"


def _array(name, array):
    """Nested lists, an axis at a time, until one of them is small enough."""
    most = STRINGS if array.dtype.kind == "O" else NUMBERS
    if array.ndim == 0 or array.size <= most:
        yield _dumps(to_json(name, array))
        return
    row = array.size // len(array)
    if row > most:
        yield from _list(_array(name, each) for each in array)
    else:
        step = most // row
        parts = (array[i : i + step] for i in range(0, len(array), step))
        yield from _list([_dumps(to_json(name, part))[1:-1]] for part in parts)


def _list(elements):
    """A list of elements that are pieces themselves."""
    yield "["
    for i, element in enumerate(elements):
        if i:
            yield ", "
        yield from element
    yield "]"


def _joined(texts, size):
    """Texts of this size or more, but for the last."""
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
