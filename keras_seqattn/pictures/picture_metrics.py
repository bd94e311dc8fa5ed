"""Metrics of a picture, by which a table of sentences is sorted."""

import math

import numpy as np

from keras_seqattn.metrics.confidence import alignment_confidence
from keras_seqattn.metrics.text_scores import bleu

_OF_ALIGNMENT = (
    "coverage_deviation",
    "absentmindedness_out",
    "absentmindedness_in",
    "entropy",
)


def picture_metrics(picture):
    """Return metrics of the best hypothesis of a picture.

    This is the best hypothesis of the search. If there is none, it is the reference,
    which then has no BLEU. A metric that cannot be computed (NaN, empty texts) is None.

    Args:
        picture: a picture, with or without metrics.

    Returns:
        Dict of floats and None: `overlap`, `length_ratio`, and measures of
        `alignment_confidence` for the mean over heads, end tokens included. With a
        reference and sacreBLEU also `bleu`, without n-grams that are longer than the
        sentence. A self-attention has only `entropy`.

    Equations:
        overlap = length of the longest common substring / length of the target
        length_ratio = target tokens / source tokens, end tokens not counted
    """
    best, source = (picture["hypotheses"] or [None])[0], picture["source"]
    if "rows" in picture and picture["rows"] == picture["columns"]:
        return {"entropy": _rounded(_of_alignment(best["weights"]).get("entropy"))}
    metrics = dict.fromkeys((*_OF_ALIGNMENT, "overlap", "length_ratio"))
    if best is None:
        return metrics
    metrics |= _of_alignment(best["weights"])
    target = best["text"]
    if target:
        metrics["overlap"] = longest_common(source["text"], target) / len(target)
    sizes = [sum(end > start for _, start, end in x["tokens"]) for x in (best, source)]
    if sizes[1]:
        metrics["length_ratio"] = sizes[0] / sizes[1]
    if picture["reference"] is not None and best["kind"] == "free":
        metrics["bleu"] = _bleu(target, picture["reference"])
    return {name: _rounded(value) for name, value in metrics.items()}


def longest_common(a, b):
    """Return the length of the longest common substring.

    Two strings with a common substring also have shorter ones: so bisection finds the
    length.

    Example:
        >>> longest_common("the cat", "a cat")
        4
    """
    least, most = 0, min(len(a), len(b))
    while least < most:
        size = (least + most + 1) // 2
        substrings = {a[i : i + size] for i in range(len(a) - size + 1)}
        if any(b[i : i + size] in substrings for i in range(len(b) - size + 1)):
            least = size
        else:
            most = size - 1
    return least


def _of_alignment(weights):
    alignment = np.mean(weights, axis=0) if weights.size else weights
    try:
        confidence = alignment_confidence(alignment)
    except ValueError:  # it is empty, has NaN, or is not an alignment
        return {}
    return {name: getattr(confidence, name) for name in _OF_ALIGNMENT}


def _bleu(text, reference):
    try:
        return float(bleu([text], [reference], effective_order=True))
    except ImportError:  # sacreBLEU is optional
        return None


def _rounded(value):
    return None if value is None or not math.isfinite(value) else round(value, 5)
