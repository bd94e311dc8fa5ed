"""Measures of an alignment that need no reference, and alignments of whole words."""

from typing import NamedTuple

import numpy as np

from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.alignment_error import check_matrix

# A source position with less attention counts as uncovered, as in the search.
UNCOVERED = 1e-6


class AlignmentConfidence(NamedTuple):
    """Measures of one alignment; `alignment_confidence` has the formulas.

    Args:
        coverage_deviation: how far the attention that source words receive deviates
            from 1; 0 is best.
        absentmindedness_out: how widely target words spread their attention over the
            source; 0 is best.
        absentmindedness_in: how widely the attention that source words receive is
            spread over the target; 0 is best.
        confidence: combines these three, in (0, 1]; 1 is best.
        entropy: entropy of the target words, relative to a uniform alignment, in
            [0, 1].
        coverage_penalty: the penalty of the beam search, at most 0, which is best.

    Example:
        >>> alignment_confidence(np.eye(3)).confidence
        1.0
    """

    coverage_deviation: float
    absentmindedness_out: float
    absentmindedness_in: float
    confidence: float
    entropy: float
    coverage_penalty: float


def alignment_confidence(alignment):
    """Measures how confident the attention of a model is in one sentence.

    Bad translations often have attention that is spread, skips words, or returns to the
    same words. The measures are a hint, not an explanation.

    The published programs differ in three points: the exponent of the coverage
    deviation (6 or 2), its sign, and whether the end token counts. Here the exponent is
    2, and larger numbers are worse, except for confidence and coverage_penalty.
    Logarithms are natural. All of the matrix counts: for measures without the end
    tokens pass `alignment[:-1, :-1]`. For absentmindedness_in the columns are first
    normalised to sum to 1; otherwise it would be absentmindedness_out in another unit.

    Args:
        alignment: `[target, source]`, one sentence without padding. A row may sum to
            less than 1.

    Returns:
        `AlignmentConfidence(coverage_deviation, absentmindedness_out,
        absentmindedness_in, confidence, entropy, coverage_penalty)`, floats.

    Equations:
        c_j = sum{a_ij : i}
        coverage_deviation = sum{log(1 + (1 - c_j)^2) : j} / J
        absentmindedness_out = - sum{a_ij log a_ij : i, j} / I
        absentmindedness_in = - sum{b_ij log b_ij : i, j} / J, b_ij = a_ij / c_j
        confidence = exp(-0.05 (sum of these three)^2)
        entropy = absentmindedness_out / log J, 0 if J = 1
        coverage_penalty = sum{log(min(c_j, 1)) : j}

    Example:
        >>> sure = alignment_confidence([[1.0, 0.0], [0.0, 1.0]])
        >>> lost = alignment_confidence([[0.5, 0.5], [0.5, 0.5]])
        >>> sure.confidence > lost.confidence, lost.entropy
        (True, 1.0)

    References:
        Rikters, Fishel, Bojar 2017, PBML 109: the idea of the first four measures.
        Wu et al. 2016, arXiv:1609.08144: coverage_penalty is (14) with beta = 1.
    """
    alignment = check_matrix("alignment_confidence", alignment)
    largest = alignment.sum(axis=1).max()
    if largest > 1.001:  # half precision is not exact
        raise four_part_error(
            "alignment_confidence got rows that are not normalised",
            "weights of each target word that sum to at most 1",
            f"a sum of {largest:.3g}",
            "Divide each row by its sum, if the weights mean shares of attention",
        )
    target, source = alignment.shape
    covered = alignment.sum(axis=0)
    deviation = np.log1p((1.0 - covered) ** 2).mean()
    out = _entropy(alignment) / target
    into = _entropy(alignment / np.where(covered > 0, covered, 1.0)) / source
    return AlignmentConfidence(
        coverage_deviation=float(deviation),
        absentmindedness_out=float(out),
        absentmindedness_in=float(into),
        confidence=float(np.exp(-0.05 * (deviation + out + into) ** 2)),
        entropy=float(out / np.log(source)) if source > 1 else 0.0,
        coverage_penalty=float(np.log(np.clip(covered, UNCOVERED, 1.0)).sum()),
    )


def merge_subwords(alignment, source_words, target_words):
    """Turns an alignment of subwords into an alignment of words.

    The weights of the subwords of a source word are summed, and those of a target word
    are averaged. So the sum of the weights of a target word is the mean of the sums of
    its subwords.

    Args:
        alignment: `[target, source]` of subwords.
        source_words: for each source subword, the number of its word, from 0; -1: it
            belongs to no word (an end token) and is left out.
        target_words: the same for the target.

    Returns:
        `[target words, source words]`.

    Equations:
        w_kl = sum{a_ij : i in word k, j in word l} / |word k|

    Example:
        >>> alignment = np.array([[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]])
        >>> merge_subwords(alignment, [0, 0, 1], [0, 0]).round(3).tolist()
        [[0.8, 0.2]]
    """
    alignment = check_matrix("merge_subwords", alignment)
    target = _members("target", target_words, alignment.shape[0])
    source = _members("source", source_words, alignment.shape[1])
    return target.T @ alignment @ source / target.sum(axis=0)[:, None]


def _entropy(x):
    """Return the sum of all -x log x; 0 log 0 is 0, without a logarithm of 0."""
    return (x * np.log(1.0 / np.where(x > 0, x, 1.0))).sum()


def _members(name, words, size):
    """Return `[subwords, words]`: 1 if the subword belongs to the word, else 0."""
    words = np.asarray(words, "int64")
    known = sorted({*words.tolist()} - {-1})
    if words.shape != (size,) or known != list(range(len(known))):
        raise four_part_error(
            f"merge_subwords got unusable {name}_words",
            f"the number of a word for each of {size} subwords, from 0 without gaps",
            f"{words.tolist()}",
            "Use the same number for all subwords of a word; -1 leaves a subword out",
        )
    return (words[:, None] == np.arange(len(known))).astype("float64")
