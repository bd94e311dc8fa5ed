"""`Benchmark`: contenders for the same work, and the sizes of the work.

A contender is the name of a function, which runs in its own process and returns a
`benchmarks.contender.Contender`.
"""

from typing import Any, NamedTuple


class Tolerance(NamedTuple):
    """Largest difference allowed, relative to the largest entry of ours.

    For strings it is the share of different ones.
    """

    names: str  # prefix of the names of results
    relative: float


class Entry(NamedTuple):
    """One contender: the function that makes it, and its options."""

    make: str  # "module:function"
    options: dict[str, Any] = {}
    tolerances: tuple[Tolerance, ...] | None = None  # None: those of the benchmark
    compared: bool = True  # False: another model, which the gate cannot compare
    smoke: bool = True  # False: takes minutes to build
    python: str | None = None  # of an environment of its own


class Benchmark(NamedTuple):
    """A benchmark: contenders by name, ours first; options of points by label."""

    name: str
    what: str
    contenders: dict[str, Entry]
    points: dict[str, dict[str, Any]]
    tolerances: tuple[Tolerance, ...] = ()
    base: str | None = None  # all are compared with this one, too
    kind: str = "time"  # or "memory", of one step
    steps: int = 1  # in one repetition; times are shown for one of them, too
    repetitions: int = 20
    seconds: float = 120.0  # for the repetitions of a point: afterwards it ends early
    axis: str | None = None  # what differs between points: a plot is drawn against it
    counts_flops: bool = False  # and shows the share of the machine's peak
    needs: tuple[str, ...] = ()  # variables that must be set in the environment


def smoked(benchmark):
    """Return the benchmark with a sixteenth of all sizes, to test that it runs."""
    points = {
        label: {**options, "size": options["size"].small()}
        if "size" in options
        else options
        for label, options in benchmark.points.items()
    }
    contenders = {n: e for n, e in benchmark.contenders.items() if e.smoke}
    return benchmark._replace(points=points, contenders=contenders, repetitions=2)
