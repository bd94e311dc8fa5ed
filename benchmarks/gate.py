"""Checks that contenders compute the same before figures are shown."""

import numpy as np


def complaints(name, ours, theirs, tolerances):
    """Return a line for each result that differs; an empty list if none does.

    Args:
        name: of the contender.
        ours: results by name, arrays.
        theirs: the same of the contender.
        tolerances: `Tolerance`s, the first that fits counts.
    """
    found = [
        f"{name}: only one of the two has {key}"
        for key in sorted(ours.keys() ^ theirs.keys())
    ]
    for key in sorted(ours.keys() & theirs.keys()):
        apart = _apart(np.asarray(ours[key]), np.asarray(theirs[key]))
        if not apart <= _allowed(tolerances, key):  # NaN is no agreement
            found.append(f"{name}: {key} differs by {apart:.1e}")
    return found


def _allowed(tolerances, key):
    for tolerance in tolerances:
        if key.startswith(tolerance.names):
            return tolerance.relative
    raise ValueError(
        f"No tolerance for the result {key!r}. Expected one whose `names` is a prefix "
        f"of it, received {tolerances}. Add one to the Benchmark."
    )


def _apart(ours, theirs):
    if ours.shape != theirs.shape:
        return np.inf
    if ours.dtype.kind == "U":
        return np.mean(ours != theirs)
    return np.max(np.abs(ours - theirs)) / max(np.max(np.abs(ours)), 1e-30)
