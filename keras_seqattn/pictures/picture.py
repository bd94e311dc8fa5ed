"""A picture: everything about one sentence at one moment, as plain values.

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
     "metrics": {name: float | None}}

Places are code points. Of the hypotheses, those that the search has found come first,
the best one in front, then the reference, which the model was made to say. `centre` is
where local attention looks, a column of the weights (from 0) for each of their rows,
`reach` how far to either side.
"""

import base64
import json
import math

import numpy as np

from keras_seqattn.errors import four_part_error
from keras_seqattn.pictures.picture_metrics import picture_metrics
from keras_seqattn.pictures.token_places import from_bytes, in_text

VERSION = 1
ABOUT = {"score", "ranking", "heads", "centre", "reach"}  # what may be None


def picture_of(translation, reference=None, gold=None):
    """The picture of a translation, with its alternatives.

    Args:
        translation: a `Translation`, or an object with the same attributes; an
            alignment may have heads in front.
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
            found.text,
            in_text(found.text, found.target_tokens),
            found.alignment,
            rank=rank,
            score=found.score,
            ranking=found.ranking,
        )
        for rank, found in enumerate((translation, *translation.alternatives))
    ]
    return picture(translation.source, source, hypotheses, reference, gold)


def picture(text, tokens, hypotheses, reference=None, gold=None):
    """A picture of its parts.

    Args:
        text: of the source.
        tokens: of the source, `[piece, start, end]`.
        hypotheses: list of `hypothesis(...)`.
        reference: str or None.
        gold: `GoldLinks` or None.
    """
    made = {
        "version": VERSION,
        "source": {"text": text, "tokens": tokens},
        "reference": reference,
        "gold": None if gold is None else links(gold),
        "hypotheses": hypotheses,
    }
    for found in hypotheses:
        _check_sizes(len(found["tokens"]), len(tokens), found["shape"])
    return {**made, "metrics": picture_metrics(made)}


def hypothesis(text, tokens, weights, *, kind="free", rank=0, **about):
    """A hypothesis of a picture.

    Args:
        text: str.
        tokens: `[piece, start, end]`.
        weights: `[target, source]`, or with heads `[heads, target, source]`.
        kind: "free" or "forced".
        rank: 0 for the best one of its kind.
        **about: `score`, `ranking`, `heads`, `centre`, `reach`, where there are such.
    """
    weights = np.asarray(weights, "float32")
    if weights.ndim == 2:
        weights = weights[None]
    about = {name: about.get(name) for name in sorted(ABOUT)}
    heads = about["heads"]
    if heads is not None and len(heads) != len(weights):
        raise four_part_error(
            "A picture got names that do not fit its heads",
            f"one for each of {len(weights)}",
            f"heads={heads!r}",
            "Pass as many, or heads=None: they then have numbers",
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
    """`GoldLinks`, which are (source, target), as a list."""
    return [[i, j, "PS"[(j, i) in gold.sure]] for j, i in sorted(gold.possible)]


def number(value):
    """A number that JSON has: what is not finite is None; five digits after the dot."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), 5)


def packed(weights):
    """Weights as little-endian float16, row by row."""
    with np.errstate(over="ignore"):  # beyond its range it is infinite
        return np.ascontiguousarray(weights, "<f2").tobytes()


def to_json(picture):
    """A picture as JSON, for a page: weights are base64 of `packed` ones.

    It can stand in a `<script>`: what HTML would read is escaped.

    Args:
        picture: of `picture_of`.

    Returns:
        str.
    """
    hypotheses = [
        {**found, "weights": base64.b64encode(packed(found["weights"])).decode()}
        for found in picture["hypotheses"]
    ]
    text = dump({**picture, "hypotheses": hypotheses})
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def dump(value):
    """Compact JSON; half a character, which UTF-8 does not have, becomes "?"."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()


def _check_sizes(target, source, shape):
    if len(shape) != 3 or shape[1:] != [target, source]:
        raise four_part_error(
            "A picture got an alignment that does not fit its tokens",
            f"[target, source] = {[target, source]}, with heads in front or without",
            f"shape {shape}",
            "Cut off the padding, and pass one token for each row and each column",
        )
