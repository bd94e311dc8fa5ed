"""A picture: a sentence, its hypotheses and alignments at one step, as plain values.

    {"version": 1,
     "source": {"text": str, "tokens": [[piece, start, end], ...]},
     "reference": str | None,
     "gold": [[target word, source word, "S" | "P"], ...] | None,
     "hypotheses": [
         {"kind": "free" | "forced", "rank": int, "text": str,
          "score": float | None, "ranking": float | None,
          "tokens": [[piece, start, end], ...],
          "shape": [heads, target, source], "weights": array of this shape,
          "heads": [name, ...] | None,
          "centre": [position, ...] | None, "reach": float | None}, ...],
     "metrics": {name: float | None},
     "alignments": {name: picture}}  # optional: of layers, and of self-attention

Positions are code points. The hypotheses of the search come first, the best one in
front; then comes the reference, which was forced (teacher forcing). `centre` has the
centre of the window of local attention for each row of the weights, a column from 0;
`reach` is the number of positions to either side.

A picture among the `alignments` also says what its "rows" and "columns" are, "source"
or "target"; elsewhere rows are the target and columns the source. In a self-attention
of the target, the tokens are those that the decoder reads: from the start token to the
last but one.
"""

import base64
import json
import math

import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.metrics.alignment_error import GoldLinks
from keras_seqattn.pictures.picture_metrics import picture_metrics
from keras_seqattn.pictures.token_places import from_bytes, in_text

VERSION = 1
ABOUT = {"score", "ranking", "heads", "centre", "reach"}  # what may be None


def picture_of(translation, reference=None, gold=None):
    """Returns the picture of a translation and its alternatives.

    Args:
        translation: a `Translation`, or an object with the same attributes; the first
            axis of an alignment may be heads.
        reference: str, another translation to compare with; None: there is none.
        gold: `GoldLinks` of source and reference; None: there are none.

    Example:
        >>> class Said:
        ...     source, text, score, ranking = "un chat", "a cat", -0.5, -0.1
        ...     source_tokens = [("un", 0, 2), ("chat", 3, 7)]
        ...     target_tokens, alignment, alternatives = ["a", "cat"], np.eye(2), ()
        >>> [hypothesis] = picture_of(Said())["hypotheses"]
        >>> hypothesis["tokens"], hypothesis["shape"]
        ([['a', 0, 1], ['cat', 2, 5]], [1, 2, 2])
    """
    source = from_bytes(translation.source, translation.source_tokens)
    hypotheses = [
        hypothesis(
            candidate.text,
            in_text(candidate.text, candidate.target_tokens),
            candidate.alignment,
            rank=rank,
            score=candidate.score,
            ranking=candidate.ranking,
        )
        for rank, candidate in enumerate((translation, *translation.alternatives))
    ]
    return picture(translation.source, source, hypotheses, reference, gold)


def picture(text, tokens, hypotheses, reference=None, gold=None, **sides):
    """Build a picture of its parts.

    Args:
        text: text of the source.
        tokens: tokens of the source, `[piece, start, end]`.
        hypotheses: list of `hypothesis(...)`.
        reference: str or None.
        gold: `GoldLinks`, or what `links` returned, or None.
        **sides: `rows` and `columns`, "source" or "target", of one of the `alignments`.
    """
    content = {
        "version": VERSION,
        "source": {"text": text, "tokens": tokens},
        "reference": reference,
        "gold": links(gold) if isinstance(gold, GoldLinks) else gold,
        "hypotheses": hypotheses,
        **sides,
    }
    for candidate in hypotheses:
        rows = candidate["tokens"]
        columns = rows if sides.get("columns") == "target" else tokens
        _check_sizes(len(rows), len(columns), candidate["shape"])
    return {**content, "metrics": picture_metrics(content)}


def hypothesis(text, tokens, weights, *, kind="free", rank=0, **about):
    """Build a hypothesis of a picture.

    Args:
        text: str.
        tokens: `[piece, start, end]`.
        weights: `[target, source]`, or with heads `[heads, target, source]`.
        kind: "free" or "forced".
        rank: 0 for the best one of its kind.
        **about: `score`, `ranking`, `heads`, `centre`, `reach`; all are optional.
    """
    weights = np.asarray(weights, "float32")
    if weights.ndim == 2:
        weights = weights[None]
    about = {name: about.get(name) for name in sorted(ABOUT)}
    heads = about["heads"]
    if heads is not None and len(heads) != len(weights):
        raise four_part_error(
            "A picture got names that do not fit its heads",
            f"a name for each of {len(weights)} heads",
            f"heads={abbreviated(heads)}",
            "Pass a name for each head, or heads=None to number them",
        )
    numbers = {name: number(about[name]) for name in ("score", "ranking", "reach")}
    return {
        "kind": kind,
        "rank": rank,
        "text": text,
        **about,
        **numbers,
        "tokens": tokens,
        "shape": list(weights.shape),
        "weights": weights,
    }


def links(gold):
    """Return `GoldLinks`, which are (source, target), as a list."""
    return [[i, j, "PS"[(j, i) in gold.sure]] for j, i in sorted(gold.possible)]


def number(value):
    """Round a number to five decimal places; return None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), 5)


def packed(weights):
    """Return weights as little-endian float16, row by row."""
    with np.errstate(over="ignore"):  # larger numbers become infinite
        return np.ascontiguousarray(weights, "<f2").tobytes()


def to_json(picture):
    """Returns a picture as JSON for a page, its weights as float16 in base64.

    The text can be placed in a `<script>`: characters with a meaning in HTML are
    escaped.

    Args:
        picture: a picture from `picture_of`.

    Returns:
        str.
    """
    hypotheses = [
        {**item, "weights": base64.b64encode(packed(item["weights"])).decode()}
        for item in picture["hypotheses"]
    ]
    text = dump({**picture, "hypotheses": hypotheses})
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def dump(value):
    """Return compact JSON; a lone surrogate, which UTF-8 lacks, becomes "?"."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()


def _check_sizes(target, source, shape):
    if len(shape) != 3 or shape[1:] != [target, source]:
        raise four_part_error(
            "A picture got an alignment that does not fit its tokens",
            f"[target, source] = {[target, source]}, with heads in front or without",
            f"shape {shape}",
            "Remove the padding, and pass one token for each row and each column",
        )
