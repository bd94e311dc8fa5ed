"""Statistics of old and new code that took turns: ratios, intervals, texts."""

import os
from typing import NamedTuple

import numpy as np

from benchmarks import table

LIMIT = 1.03  # a smaller ratio is not worse
# Kinds of figures, and what a larger figure means; None: this kind does not decide.
COMPARED = {"wall": "slower", "processor": None, "memory": "more memory"}
DRAWS, SEED = 10_000, 1409


class Ratio(NamedTuple):
    """The ratio of new to old, and the ends of its 95 % interval."""

    middle: float
    low: float
    high: float

    @property
    def is_kept(self):
        return self.middle <= LIMIT or self.low <= 1


def ratio(old, new):
    """Return the median of the ratios in each turn, from `[starts, turns]`.

    The ratio of the two medians depends more on the machine. While other programs ran,
    it was 0.87 to 1.21 for processes of the same code, and the median of the ratios was
    0.97 to 1.02.

    The interval is a bootstrap: starts are drawn with replacement, then turns within
    them. Turns of the same two processes are not independent. An interval that ignores
    this is too narrow: in simulated runs it contained the true ratio in 61 to 95 of 100
    cases, this one in 90 to 98.
    """
    ratios = np.asarray(new, float) / np.asarray(old, float)
    starts, turns = ratios.shape
    rng = np.random.default_rng(SEED)
    start = rng.integers(0, starts, (DRAWS, starts, 1))
    turn = rng.integers(0, turns, (DRAWS, starts, turns))
    medians = np.median(ratios[start, turn].reshape(DRAWS, -1), axis=1)
    low, high = np.percentile(medians, (2.5, 97.5))
    return Ratio(float(np.median(ratios)), float(low), float(high))


def summary(rounds):
    """Return figures `[starts, turns]` by kind and side, and their ratios.

    Args:
        rounds: list with the figures of the turns by kind and side, for each start.
    """
    figures = {
        kind: {side: np.array([one[kind][side] for one in rounds]) for side in sides}
        for kind, sides in rounds[0].items()
    }
    ratios = {
        kind: ratio(figures[kind]["old"], figures[kind]["new"])
        for kind in COMPARED
        if kind in figures and not np.isnan(figures[kind]["old"]).any()
    }
    row = {"figures": figures, "ratios": ratios}
    if "peak" in figures:
        peak, others, wall = (
            np.stack(list(figures[kind].values()))
            for kind in ("peak", "others", "wall")
        )
        row |= {"gemm_peak_gflops": peak.max() / 1e9, "processors": os.cpu_count()}
        row["others"] = others.sum() / wall.sum()
    return row


def is_kept(row):
    """Whether results agree and no deciding figure is worse."""
    return not row["complaints"] and all(found.is_kept for _, found in _decisive(row))


def _decisive(row):
    for kind, found in row["ratios"].items():
        if COMPARED[kind]:
            yield COMPARED[kind], found


def verdict(worse, found):
    """Return the verdict in words."""
    if found.middle <= LIMIT:
        return f"not {worse}: {found.middle:.3f} is at most {LIMIT}"
    if found.is_kept:
        return (
            f"not {worse}: {found.middle:.3f} is above {LIMIT}, but its interval holds "
            "1; more turns say more"
        )
    return f"{worse}: {found.middle:.3f} is above {LIMIT}, and its interval above 1"


def text(benchmark, label, row):
    """Return the lines of one point."""
    if row["complaints"]:
        return table.text(benchmark, label, row)
    lines = [table.title(benchmark, label), *(f"  {note}" for note in row["notes"])]
    lines += table.aligned(_table(benchmark, row))
    starts, turns = next(iter(row["figures"].values()))["old"].shape
    each = f"{turns} turns in each; repetitions in a turn: {row['repetitions']}"
    lines.append(f"  pairs of new processes: {starts}, {each}")
    lines += [f"  {line}" for line in table.machine(row)]
    lines += [f"  {verdict(worse, found)}" for worse, found in _decisive(row)]
    return "\n".join(lines)


def _table(benchmark, row):
    """Return rows of strings; the first is the head."""
    per = "per step" if benchmark.steps > 1 else "time"
    after = "build" if benchmark.kind == "memory" else "the imports"
    rows = [["", "old", "new", "new / old", "95 % interval"]]
    for kind, found in row["ratios"].items():
        name, scale, unit = f"{kind} {per}", 1e3 / benchmark.steps, ".2f ms"
        if kind == "memory":
            name, scale, unit = f"memory above that after {after}", 1e-6, ".0f MB"
        medians = (np.median(row["figures"][kind][x]) * scale for x in ("old", "new"))
        digits, _, unit = unit.partition(" ")
        cells = [f"{x:{digits}} {unit}" for x in medians]
        interval = f"{found.low:.3f} to {found.high:.3f}"
        rows.append([name, *cells, f"{found.middle:.3f}", interval])
    return rows
