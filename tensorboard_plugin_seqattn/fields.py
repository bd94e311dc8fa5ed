"""Fields of JSON from a log, with checks: a log may hold anything."""

import json
import math
import reprlib
import zlib

VERSION = 2  # 1: without kinds of alignments
HEADER_BYTES = 2**24  # far more than any sentence needs

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
short = _repr.repr  # a received value may be of any size
_LOG_AGAIN = "Log it again with keras_seqattn, or delete its event file"


class BrokenRecord(ValueError):
    """A record in the log that keras_seqattn does not write; in four parts."""

    def __init__(self, what, expected, received, remedy=_LOG_AGAIN):
        super().__init__(four_parts(what, expected, received, remedy))


def four_parts(what, expected, received, remedy):
    """Return an error message; no part ends with a period."""
    return f"{what}. Expected {expected}, received {received}. {remedy}."


def parse(raw, what):
    """Read a JSON object, plain or compressed by zlib; NaN and infinity become None."""
    try:
        record = json.loads(_inflated(raw), parse_constant=lambda _: None)
    except (ValueError, RecursionError, zlib.error):  # truncated, foreign, or malicious
        record = None
    if type(record) is not dict:
        raise BrokenRecord(f"{what} is broken", "a JSON object", short(raw))
    return record


def _inflated(raw):
    """Return the JSON; compressed data begin with x, JSON never does."""
    if raw[:1] != b"x":
        return raw
    return zlib.decompressobj().decompress(raw, HEADER_BYTES)


def parse_versioned(raw, what):
    """Read a JSON object, and check that this package knows its version."""
    record = parse(raw, what)
    version = record.get("version")
    if not is_count(version) or version == 0:
        raise BrokenRecord(
            f"{what} is not from keras_seqattn",
            f"version 1 to {VERSION}",
            short(version),
        )
    if version > VERSION:
        raise BrokenRecord(
            f"{what} is newer than this tab",
            f"version 1 to {VERSION} of the log",
            version,
            "Upgrade keras_seqattn where TensorBoard runs",
        )
    return record


def take(record, schema, what):
    """Check the fields of `schema`, and return them without other fields.

    `schema` maps a name to a description of the expected value, and to a function that
    checks a value. A missing field is None.
    """
    for name, (expected, is_right) in schema.items():
        value = record.get(name)
        if not is_right(value):
            raise BrokenRecord(f"{what} has an unusable {name}", expected, short(value))
    return {name: record.get(name) for name in schema}


def is_text(value):
    """Whether it is a string."""
    return type(value) is str


def is_number(value):
    """Whether it is a number that JSON and JavaScript can represent."""
    if type(value) is float:
        return math.isfinite(value)  # 1e999 is not
    return type(value) is int and abs(value) <= 2**53


def is_count(value):
    """Whether it is a whole number, 0 or more."""
    return type(value) is int and 0 <= value <= 2**53


def is_list(value, is_right):
    """Whether it is a list whose items are right."""
    return type(value) is list and all(map(is_right, value))


def is_metrics(value):
    """Whether it maps names to numbers; an unknown number is None."""
    return type(value) is dict and all(
        number is None or is_number(number) for number in value.values()
    )


def is_tokens(value):
    """Whether it is a list of [piece, start, end]."""
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
    """Return the field description that also accepts null."""
    expected, is_right = kind
    return f"{expected}, or null", lambda value: value is None or is_right(value)


def check_spans(tokens, text, what):
    """Check that tokens lie inside their text."""
    for token in tokens:
        _, start, end = token
        if not start <= end <= len(text):
            raise BrokenRecord(
                f"{what} has a token outside of its text",
                f"0 <= start <= end <= {len(text)} characters",
                short(token),
            )
