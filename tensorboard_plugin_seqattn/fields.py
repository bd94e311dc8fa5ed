"""JSON from a log: nothing in it is taken for what it says before it was looked at."""

import json
import math
import reprlib
import zlib

VERSION = 1
HEADER_BYTES = 2**24  # far more than any sentence needs

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
short = _repr.repr  # what was received may be of any size


class BrokenRecord(ValueError):
    """Something in the log that the write side does not write; in four parts."""

    def __init__(self, what, expected, received, remedy=None):
        remedy = remedy or "Log it again with keras_seqattn, or delete its event file."
        super().__init__(f"{what}. Expected {expected}, received {received}. {remedy}")


def parse(raw, what):
    """A JSON object, plain or in zlib. NaN and infinity, which JSON lacks, are None."""
    try:
        record = json.loads(_inflated(raw), parse_constant=lambda _: None)
    except (ValueError, RecursionError, zlib.error):  # cut, foreign, nested for malice
        record = None
    if type(record) is not dict:
        raise BrokenRecord(f"{what} is broken", "a JSON object", short(raw))
    return record


def _inflated(raw):
    """What zlib writes begins with x, JSON never does."""
    if raw[:1] != b"x":
        return raw
    return zlib.decompressobj().decompress(raw, HEADER_BYTES)


def parse_versioned(raw, what):
    """The same, of a version that is known here."""
    record = parse(raw, what)
    version = record.get("version")
    if not is_count(version) or version == 0:
        raise BrokenRecord(f"{what} is not ours", f"version {VERSION}", short(version))
    if version > VERSION:
        raise BrokenRecord(
            f"{what} is newer than this tab",
            f"version {VERSION} of the log",
            version,
            "Upgrade keras_seqattn where TensorBoard runs.",
        )
    return record


def take(record, schema, what):
    """The fields of `schema`, checked; others are left behind.

    `schema` maps a name to what is expected in words and to a function that says
    whether a value is. A missing field is None.
    """
    for name, (expected, is_right) in schema.items():
        value = record.get(name)
        if not is_right(value):
            raise BrokenRecord(f"{what} has an unusable {name}", expected, short(value))
    return {name: record.get(name) for name in schema}


def is_text(value):
    """It is a string."""
    return type(value) is str


def is_number(value):
    """It is a number that JSON and JavaScript have, too."""
    if type(value) is float:
        return math.isfinite(value)  # 1e999 is not
    return type(value) is int and abs(value) <= 2**53


def is_count(value):
    """It is a whole number, 0 or more."""
    return type(value) is int and 0 <= value <= 2**53


def is_list(value, is_right):
    """It is a list of such values."""
    return type(value) is list and all(map(is_right, value))


def is_metrics(value):
    """It maps names to numbers; one that is not known is None."""
    return type(value) is dict and all(
        number is None or is_number(number) for number in value.values()
    )


def is_tokens(value):
    """It is a list of [piece, start, end]."""
    return is_list(
        value,
        lambda token: (
            type(token) is list
            and len(token) == 3
            and is_text(token[0])
            and is_count(token[1])
            and is_count(token[2])
        ),
    )


TEXT = "a string", is_text
COUNT = "a whole number, 0 or more", is_count
METRICS = "numbers or null by name", is_metrics
TOKENS = "a list of [piece, start, end]", is_tokens


def optional(kind):
    """The same, or nothing."""
    expected, is_right = kind
    return f"{expected}, or null", lambda value: value is None or is_right(value)


def check_spans(tokens, text, what):
    """Tokens lie in their text."""
    for token in tokens:
        _, start, end = token
        if not start <= end <= len(text):
            raise BrokenRecord(
                f"{what} has a token outside of its text",
                f"0 <= start <= end <= {len(text)} characters",
                short(token),
            )
