"""Filters that drop pairs: empty, too long, or of very different lengths."""

import numpy as np

from keras_seqattn.checks import check_count
from keras_seqattn.data.encoded_pairs import check_encoded
from keras_seqattn.data.filter_report import EXAMPLES, Report
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.data.row import shortened
from keras_seqattn.errors import abbreviated, four_part_error


def filter_pairs(
    pairs,
    *,
    min_characters=None,
    max_characters=None,
    max_words=None,
    ratio=None,
    drop_empty=True,
    drop_duplicates=False,
):
    """Drops pairs that are empty, too short, too long, too different, or duplicates.

    Args:
        pairs: `Pairs`, or a list of pairs of strings.
        min_characters: the smallest number of characters of each side; None: any.
        max_characters: the largest number of characters of each side; None: any.
        max_words: the largest number of words of each side, between white space; None:
            any. A text has at least as many tokens as words.
        ratio: how many times longer than the other side a side may be, in characters;
            None: any.
        drop_empty: drop pairs if one side has nothing but white space.
        drop_duplicates: drop pairs if an earlier pair has the same two sides.

    Returns:
        The `Pairs` that are kept, in order, and a `Report`.

    Example:
        >>> pairs = Pairs(["a", "b", "", "d" * 25], ["x", "y", "z", "x"])
        >>> pairs, report = filter_pairs(pairs, max_characters=20)
        >>> pairs.source
        ['a', 'b']
        >>> print(report)
        2 of 4 pairs kept
              1 empty                      | z
              1 longer than 20 characters  ddddddddddddddddddddddddd | x
    """
    _check_bounds("filter_pairs", "characters", min_characters, max_characters, ratio)
    _check_bounds("filter_pairs", "words", None, max_words, None)
    pairs = as_pairs("filter_pairs", pairs)
    lengths = [
        np.fromiter(map(len, side), int) for side in (pairs.source, pairs.target)
    ]
    tests = {"empty": _empty(pairs)} if drop_empty else {}
    tests |= _tests(*lengths, min_characters, max_characters, ratio, "characters")
    if max_words is not None:
        tests[f"longer than {max_words} words"] = _wordy(pairs, max_words)
    if drop_duplicates:
        tests["duplicate"] = _seen(pairs)
    kept, report = _apply(tests, len(pairs), pairs)
    return pairs.select(kept.tolist()), report


def filter_lengths(encoded, max_tokens=None, *, min_tokens=None, ratio=None):
    """Drops encoded pairs by their numbers of tokens, start and end not counted.

    Args:
        encoded: `EncodedPairs`.
        max_tokens: the largest number of tokens of each side; None: any. A batch is as
            wide as its longest sentence: a sentence of 10 000 tokens may use up the
            memory.
        min_tokens: the smallest number of tokens of each side; None: any.
        ratio: how many times longer than the other side a side may be; None: any.

    Returns:
        The `EncodedPairs` that are kept, in order, and a `Report`.

    Example:
        >>> encoded = EncodedPairs.of([[5, 6], [7] * 10_000], [[5], [6, 7]])
        >>> encoded, report = filter_lengths(encoded, max_tokens=200)
        >>> print(report)
        1 of 2 pairs kept
              1 longer than 200 tokens
    """
    _check_bounds("filter_lengths", "tokens", min_tokens, max_tokens, ratio)
    check_encoded("filter_lengths", encoded)
    lengths = encoded.source.lengths, encoded.target.lengths
    tests = _tests(*lengths, min_tokens, max_tokens, ratio, "tokens")
    kept, report = _apply(tests, len(encoded))
    return encoded.select(kept), report


def _tests(source, target, least, most, ratio, unit):
    """Return `{reason: [pairs], True for pairs to drop}`; the first reason counts."""
    short, long = np.minimum(source, target), np.maximum(source, target)
    tests = {}
    if least is not None:
        tests[f"shorter than {least} {unit}"] = short < least
    if most is not None:
        tests[f"longer than {most} {unit}"] = long > most
    if ratio is not None:
        tests[f"one side more than {ratio} times longer"] = long > ratio * short
    return tests


def _empty(pairs):
    blank = (not s or s.isspace() or not t or t.isspace() for s, t in pairs)
    return np.fromiter(blank, bool, len(pairs))


def _wordy(pairs, most):
    """Find texts of many words; a text of few characters has few words."""
    long = (
        any(len(text) > 2 * most and len(text.split()) > most for text in pair)
        for pair in pairs
    )
    return np.fromiter(long, bool, len(pairs))


def _seen(pairs):
    seen, again = set(), np.zeros(len(pairs), bool)
    for i, pair in enumerate(pairs):
        again[i] = pair in seen
        seen.add(pair)
    return again


def _apply(tests, total, pairs=None):
    """Return the indices of the pairs to keep, and the report of the others.

    With `Pairs`, the report has examples.
    """
    left, dropped, examples = np.ones(total, bool), {}, {}
    for reason, bad in tests.items():
        here = np.flatnonzero(left & bad)
        if len(here):
            dropped[reason] = len(here)
        if len(here) and pairs is not None:
            first = (pairs[i] for i in here[:EXAMPLES].tolist())
            examples[reason] = [shortened("\t".join(pair)) for pair in first]
        left &= ~bad
    return np.flatnonzero(left), Report(total, dropped, examples)


def _check_bounds(owner, unit, least, most, ratio):
    for name, bound in ((f"min_{unit}", least), (f"max_{unit}", most)):
        if bound is not None:
            check_count(owner, name, bound, 1)
    if ratio is not None:
        _check_ratio(owner, ratio)
    if None not in (least, most) and least > most:
        raise four_part_error(
            f"{owner} got contradictory bounds",
            f"min_{unit} <= max_{unit}",
            f"{least} and {most}",
            "Swap them",
        )


def _check_ratio(owner, ratio):
    number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
    if not number or not ratio >= 1:
        raise four_part_error(
            f"{owner} got an unusable ratio",
            "a number, 1 or more",
            f"ratio={abbreviated(ratio)}",
            "Pass how many times longer than the other a side may be, e.g. ratio=3",
        )
