"""Gold alignments made by hand, and the error of a model's alignments."""

import re
from typing import NamedTuple

import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error


class GoldLinks(NamedTuple):
    """Links of one sentence pair, made by hand.

    Args:
        sure: set of (source, target) positions that belong together.
        possible: set of positions that may belong together, the sure ones included.

    Example:
        >>> [gold] = read_alignments(["0-0 1?2"])
        >>> sorted(gold.sure), sorted(gold.possible)
        ([(0, 0)], [(0, 0), (1, 2)])
    """

    sure: frozenset
    possible: frozenset


def read_alignments(lines, one_based=False):
    """Reads alignments in Pharaoh's format, a sentence pair per line: `0-0 1-2 2?3`.

    A link is the position of the source word, a mark, and the position of the target
    word. The mark `-` means a sure link, `?` or `:` a possible link.

    Args:
        lines: iterable of strings, e.g. an open file.
        one_based: whether the first word of a sentence has position 1 instead of 0.

    Returns:
        A list of `GoldLinks`, positions from 0.

    Equations:
        S, P = {(j, i) marked -}, S + {(j, i) marked ? or :}

    Example:
        >>> read_alignments(["1-1"], one_based=True)[0].sure
        frozenset({(0, 0)})
    """
    return [_gold(line, n, int(one_based)) for n, line in enumerate(lines, start=1)]


def _gold(line, number, first):
    sure, possible = set(), set()
    for text in line.split():
        match = re.fullmatch(r"(\d+)([-?:])(\d+)", text)
        if not match or min(int(match[1]), int(match[3])) < first:
            raise four_part_error(
                "read_alignments got something that is not a link",
                f"e.g. 0-2, 0?2 or 0:2 with positions from {first}",
                f"{text!r} in line {number}",
                "Check the format, and one_based",
            )
        link = int(match[1]) - first, int(match[3]) - first
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def alignment_links(alignment):
    """Links each target word to the source word with the largest attention weight.

    A target word without weights (a row of zeros) gets no link; of equal weights the
    first one counts.

    Args:
        alignment: `[target, source]` of words (see `merge_subwords`), without the end
            tokens.

    Returns:
        A set of (source, target) positions.

    Equations:
        A = {(argmax_j alpha_ij, i) : i}

    Example:
        >>> sorted(alignment_links(np.array([[0.1, 0.9], [0.8, 0.2]])))
        [(0, 1), (1, 0)]
    """
    alignment = check_matrix("alignment_links", alignment)
    best = alignment.argmax(axis=1)
    seen = alignment.max(axis=1) > 0
    return {(int(j), i) for i, j in enumerate(best) if seen[i]}


def alignment_error_rate(links, gold):
    """Alignment error rate of a whole test set, from 0 (best) to 1.

    Args:
        links: for each sentence pair, a set of (source, target) positions.
        gold: for each sentence pair, its `GoldLinks`.

    Equations:
        AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), counted over all sentences

    Example:
        >>> gold = read_alignments(["0-0 1?1"])
        >>> alignment_error_rate([{(0, 0), (1, 1)}], gold)
        0.0
        >>> print(f"{alignment_error_rate([{(0, 0), (0, 1)}], gold):.4f}")
        0.3333

    References:
        Och, Ney 2003, Computational Linguistics 29(1).
    """
    if len(links) != len(gold):
        raise four_part_error(
            "alignment_error_rate got different numbers of sentences",
            "links and gold links of the same sentences",
            f"{len(links)} and {len(gold)}",
            "Check the files: a line may be missing",
        )
    right = total = 0
    for n, (predicted, reference) in enumerate(zip(links, gold, strict=True)):
        _check_links(predicted, reference, n)
        sure, possible = reference
        right += len(predicted & sure) + len(predicted & possible)
        total += len(predicted) + len(sure)
    return 1.0 - right / total if total else 0.0


def check_matrix(owner, alignment):
    """Return the alignment of one sentence pair in float64, after checks."""
    alignment = np.asarray(alignment, "float64")
    if alignment.ndim != 2 or 0 in alignment.shape:
        raise four_part_error(
            f"{owner} got an unusable alignment",
            "[target, source] of one sentence pair",
            f"shape {alignment.shape}",
            "Pass one sentence, and average over heads",
        )
    if not np.all((alignment > -1e-3) & (alignment < 1.001)):
        raise four_part_error(
            f"{owner} got numbers that are not an alignment",
            "numbers from 0 to 1",
            f"{alignment.min():.3g} to {alignment.max():.3g}",
            "Pass the alignment of an attention mechanism, after the softmax",
        )
    return np.clip(alignment, 0.0, 1.0)


def _check_links(predicted, reference, n):
    """Check that links are sets: in a list, a link may occur twice."""
    if not isinstance(reference, GoldLinks) or not all(
        isinstance(links, (set, frozenset)) for links in (predicted, *reference)
    ):
        raise four_part_error(
            "alignment_error_rate got unusable links",
            "a set of (source, target) and GoldLinks of two sets",
            f"{abbreviated(predicted)} and {abbreviated(reference)} at position {n}",
            "Use alignment_links and read_alignments",
        )
