"""The content that a series has once: SummaryMetadata.plugin_data.content."""

from tensorboard_plugin_seqattn.fields import (
    TEXT,
    TOKENS,
    BrokenRecord,
    check_spans,
    is_count,
    is_list,
    optional,
    parse_versioned,
    short,
    take,
)

_WHAT = "The description of this series"


def _is_link(link):
    """Whether it is [target word, source word, "S" (sure) or "P" (possible)]."""
    return (
        type(link) is list
        and len(link) == 3
        and is_count(link[0])
        and is_count(link[1])
        and link[2] in ("S", "P")
    )


_LINKS = (
    'a list of [target word, source word, "S" or "P"]',
    lambda value: is_list(value, _is_link),
)
_SOURCE = {"text": TEXT, "tokens": TOKENS}
_SIDE = '"source" or "target"', lambda value: value in ("source", "target")
_ALIGNMENT = {"of": TEXT, "name": TEXT, "rows": _SIDE, "columns": _SIDE}
_SENTENCE = {
    "source": ("an object", lambda value: type(value) is dict),
    "reference": optional(TEXT),
    "gold": optional(_LINKS),
}


def read_content(raw):
    """Return the kind of the series, and for a picture or an alignment its sentence.

    Args:
        raw: the bytes of the plugin content.

    Returns:
        `("table", None)`, or `("picture", sentence)` with the `source`, `reference`
        and `gold` of the sentence; or `("alignment", sentence)`, a further alignment:
        `of` is the tag of its sentence, `name` its own name, and `rows` and `columns`
        say what they are, "source" or "target".

    Raises:
        BrokenRecord: it is foreign, truncated, or newer than this package.
    """
    record = parse_versioned(raw, _WHAT)
    kind = record.get("kind")
    if kind == "table":
        return kind, None
    if kind not in ("picture", "alignment"):
        expected = '"picture", "alignment" or "table"'
        raise BrokenRecord(f"{_WHAT} has an unusable kind", expected, short(kind))
    schema = _SENTENCE if kind == "picture" else {**_SENTENCE, **_ALIGNMENT}
    sentence = take(record, schema, _WHAT)
    source = take(sentence["source"], _SOURCE, "The source")
    check_spans(source["tokens"], source["text"], "The source")
    return kind, {**sentence, "source": source}
