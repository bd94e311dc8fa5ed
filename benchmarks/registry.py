"""What a benchmark is, and the list of them.

A benchmark is a name and a function that makes its contenders: ours first, then the
rivals. It does not speak for itself: `gate` compares them first, and where they do not
compute the same, no time is measured.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

BENCHMARKS = {}


class Contender(NamedTuple):
    """One way of doing the work."""

    name: str
    step: Callable[[], Any]  # one repetition, to be timed
    results: Callable[[], dict[str, Any]]  # what must agree; called once, first
    tokens: int = 0  # real ones in a repetition, where contenders differ in that


class Tolerance(NamedTuple):
    """Largest difference allowed, relative to the largest entry of ours.

    Of strings it is the share of those that differ.
    """

    names: str  # those results whose name starts so
    relative: float


class Contest(NamedTuple):
    """Contenders on the same work, same weights, same data."""

    ours: Contender
    rivals: list[Contender]
    tolerances: list[Tolerance]
    steps: int = 1  # in one repetition; times are shown for one of them, too
    notes: tuple[str, ...] = ()  # e.g. which rival is missing


def benchmark(make):
    """Registers `make() -> Contest` under its name; its docstring says what it is."""
    BENCHMARKS[make.__name__] = make
    return make


def gate(contest):
    """What the rivals compute differently, one line each; empty: times may be shown."""
    ours = contest.ours.results()
    complaints = []
    for rival in contest.rivals:
        theirs = rival.results()
        for name in sorted(ours.keys() ^ theirs.keys()):
            complaints.append(f"{rival.name}: only one of the two has {name}")
        for name in sorted(ours.keys() & theirs.keys()):
            allowed = _allowed(contest, name)
            apart = _apart(np.asarray(ours[name]), np.asarray(theirs[name]))
            if not apart <= allowed:  # NaN is no agreement
                complaints.append(f"{rival.name}: {name} differs by {apart:.1e}")
    return complaints


def _allowed(contest, name):
    for tolerance in contest.tolerances:
        if name.startswith(tolerance.names):
            return tolerance.relative
    raise ValueError(
        f"No tolerance for the result {name!r}. Expected one whose names it "
        f"starts with, received {contest.tolerances}. Add one to the Contest."
    )


def _apart(ours, theirs):
    if ours.shape != theirs.shape:
        return np.inf
    if ours.dtype.kind == "U":
        return np.mean(ours != theirs)
    return np.max(np.abs(ours - theirs)) / max(np.max(np.abs(ours)), 1e-30)
