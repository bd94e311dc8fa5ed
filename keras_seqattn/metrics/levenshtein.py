"""The Levenshtein distance of two sequences."""

import numpy as np


def edit_distance(a, b):
    """The smallest number of insertions, deletions and replacements from `a` to `b`.

    Args:
        a: a string, or any sequence of hashable tokens.
        b: the same.

    Returns:
        An int.

    Equations:
        d[i, j] = min(d[i-1, j] + 1, d[i, j-1] + 1, d[i-1, j-1] + [a_i != b_j])

    Example:
        >>> edit_distance("kitten", "sitting")
        3
        >>> edit_distance("a b c".split(), "a c".split())
        1

    References:
        Wagner, Fischer 1974, Journal of the ACM 21(1).
    """
    numbers = {}
    a, b = (np.array([numbers.setdefault(x, len(numbers)) for x in s]) for s in (a, b))
    columns = np.arange(len(b) + 1)
    row = columns
    for token in a:
        above = row + 1
        above[1:] = np.minimum(above[1:], row[:-1] + (b != token))
        # d[i, j-1] + 1 along a whole row is a running minimum of d[i, j] - j.
        row = np.minimum.accumulate(above - columns) + columns
    return int(row[-1])
