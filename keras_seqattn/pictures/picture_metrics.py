"""What a table can sort sentences by."""

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
    """Numbers about the best hypothesis of a picture.

    It is the best one that the search has found; if it has found none, the reference,
    which then has no BLEU. What cannot be computed (of NaN, of nothing) is None.

    Args:
        picture: a picture; its own metrics need not be there.

    Returns:
        Dict of floats and None: those of `alignment_confidence`, of the mean over
        heads, end tokens included; `overlap`; `length_ratio`; with a reference and
        sacreBLEU `bleu`, of n-grams that the sentence is long enough for.

    Equations:
        overlap = length of the longest common substring / length of the target
        length_ratio = target tokens / source tokens, end tokens not counted
    """
    found = dict.fromkeys((*_OF_ALIGNMENT, "overlap", "length_ratio"))
    if not picture["hypotheses"]:
        return found
    best, source = picture["hypotheses"][0], picture["source"]
    found |= _of_alignment(best["weights"])
    target = best["text"]
    if target:
        found["overlap"] = longest_common(source["text"], target) / len(target)
    sizes = [sum(end > start for _, start, end in x["tokens"]) for x in (best, source)]
    if sizes[1]:
        found["length_ratio"] = sizes[0] / sizes[1]
    if picture["reference"] is not None and best["kind"] == "free":
        found["bleu"] = _bleu(target, picture["reference"])
    return {name: _rounded(value) for name, value in found.items()}


def longest_common(a, b):
    """Length of the longest string that is a part of both.

    If they have one of some length in common, then shorter ones, too: so the length is
    found by halving.

    Example:
        >>> longest_common("the cat", "a cat")
        4
    """
    least, most = 0, min(len(a), len(b))
    while least < most:
        size = (least + most + 1) // 2
        known = {a[i : i + size] for i in range(len(a) - size + 1)}
        if any(b[i : i + size] in known for i in range(len(b) - size + 1)):
            least = size
        else:
            most = size - 1
    return least


def _of_alignment(weights):
    alignment = np.mean(weights, axis=0) if weights.size else weights
    try:
        confidence = alignment_confidence(alignment)
    except ValueError:  # empty, NaN, or no alignment at all
        return {}
    return {name: getattr(confidence, name) for name in _OF_ALIGNMENT}


def _bleu(text, reference):
    try:
        return float(bleu([text], [reference], effective_order=True))
    except ImportError:  # sacreBLEU is optional, and so is this number
        return None


def _rounded(value):
    return None if value is None or not math.isfinite(value) else round(value, 5)
