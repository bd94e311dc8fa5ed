"""Convert the records of a step from the form of the log to that of the answer."""

from tensorboard_plugin_seqattn.fields import (
    COUNT,
    METRICS,
    TEXT,
    TOKENS,
    BrokenRecord,
    check_spans,
    is_count,
    is_list,
    is_metrics,
    is_number,
    is_text,
    optional,
    parse,
    parse_versioned,
    short,
    take,
)
from tensorboard_plugin_seqattn.weights import DIVERGED

_NUMBER = "a number", is_number
_PICTURE = {
    "hypotheses": (
        "a list of objects",
        lambda value: is_list(value, lambda item: type(item) is dict),
    ),
    "metrics": METRICS,
}
_HYPOTHESIS = {
    "kind": ('"free" or "forced"', lambda value: value in ("free", "forced")),
    "rank": COUNT,
    "text": TEXT,
    "score": optional(_NUMBER),
    "ranking": optional(_NUMBER),
    "tokens": TOKENS,
    "shape": (
        "[heads, target, source], each 1 or more",
        lambda value: is_list(value, is_count) and len(value) == 3 and all(value),
    ),
    "heads": optional(("a list of names", lambda value: is_list(value, is_text))),
    "centre": optional(("a list of numbers", lambda value: is_list(value, is_number))),
    "reach": optional(_NUMBER),
}


def read_picture(values, source_tokens, weights):
    """Read the hypotheses and metrics of one step.

    Args:
        values: list of bytes: the JSON header, then the weights of each hypothesis.
        source_tokens: the tokens of the columns; None: each hypothesis has its own, the
            same as those of the rows.
        weights: the `WeightReader` of the series.

    Raises:
        BrokenRecord: keras_seqattn does not write such values.
    """
    if not values or not is_list(values, lambda value: type(value) is bytes):
        raise BrokenRecord(
            "The record is not from keras_seqattn",
            "a list of byte strings, header first",
            short(values),
        )
    header, *blobs = values
    picture = take(parse_versioned(header, "The header"), _PICTURE, "The header")
    if not picture["hypotheses"]:
        raise BrokenRecord(
            "The search found no hypothesis at this step",
            "one hypothesis or more",
            "none",
            DIVERGED,
        )
    if len(blobs) != len(picture["hypotheses"]):
        raise BrokenRecord(
            "The record has a wrong number of weights",
            f"weights for each of {len(picture['hypotheses'])} hypotheses",
            f"weights for {len(blobs)}",
        )
    picture["hypotheses"] = [
        _hypothesis(record, blob, source_tokens, weights, f"Hypothesis {i}")
        for i, (record, blob) in enumerate(
            zip(picture["hypotheses"], blobs, strict=True)
        )
    ]
    return picture


def _hypothesis(record, blob, source_tokens, weights, what):
    hypothesis = take(record, _HYPOTHESIS, what)
    heads, target, source = hypothesis["shape"]
    check_spans(hypothesis["tokens"], hypothesis["text"], what)
    columns = hypothesis["tokens"] if source_tokens is None else source_tokens
    for name, items, expected in (
        ("tokens", hypothesis["tokens"], target),
        ("source tokens", columns, source),
        ("names of heads", hypothesis["heads"], heads),
        ("centres", hypothesis["centre"], target),
    ):
        if items is not None and len(items) != expected:
            raise BrokenRecord(
                f"{what} has a number of {name} that does not fit its shape",
                expected,
                len(items),
            )
    return {**hypothesis, "weights": weights.read(blob, hypothesis["shape"], what)}


def read_table(value):
    """Read the metrics of all sentences at one step, by tag.

    Args:
        value: bytes: a JSON object.

    Raises:
        BrokenRecord: keras_seqattn does not write such a value.
    """
    if type(value) is not bytes:
        raise BrokenRecord(
            "The table is not from keras_seqattn", "one byte string", short(value)
        )
    rows = parse(value, "The table")
    for tag, metrics in rows.items():
        if not is_metrics(metrics):
            raise BrokenRecord(
                f"The table has an unusable row {short(tag)}",
                METRICS[0],
                short(metrics),
            )
    return {"rows": rows}
