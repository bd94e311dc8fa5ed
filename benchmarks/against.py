"""`python -m benchmarks.run NAME --against WORKTREE`: is the new code slower?

The code of another checkout (old) and of this one (new) take turns in one run. Each
runs in a worker process of its own checkout, with the benchmarks of that checkout. Both
must compute the same, like all contenders. Two processes of the same code may differ by
two percent during their whole life, so both are restarted every few turns.
"""

import contextlib
import math
import pathlib
import statistics
import time
from typing import NamedTuple

from benchmarks import gate, paired, store
from benchmarks.measure import WARM_UP
from benchmarks.processes import ROOT, Process, Refused
from benchmarks.registry import smoked

GUEST = pathlib.Path(__file__).parent / "guest"
TURNS = 4  # of two processes, at most; then they are restarted
SECONDS = 2.0  # of a turn of one process, about
MOST = 20  # repetitions in a turn


class Side(NamedTuple):
    name: str  # "old" or "new"
    root: pathlib.Path

    def __str__(self):
        where = [store.commit(self.root), str(self.root)]
        return f"{self.name}: {' in '.join(filter(None, where))}"


class Point(NamedTuple):
    """The arguments of the guest's `contender`."""

    name: str
    label: str
    smoke: bool = False


def check(options):
    """Raise an error if there is nothing to compare."""
    if not options.names or options.turns < 1:
        raise ValueError(
            "There is nothing to compare. Expected names of benchmarks and 1 turn or "
            f"more, received {options.turns} turns of "
            f"{', '.join(options.names) or 'nothing'}. Name some, as in `python -m "
            "benchmarks.run train_step --against WORKTREE`."
        )
    checkout(options.against)


def checkout(path):
    """Return the folder; raise an error if it is no checkout of this project."""
    root = pathlib.Path(path).resolve()
    for file in ("keras_seqattn/__init__.py", "benchmarks/worker.py"):
        if not (root / file).is_file():
            raise ValueError(
                f"{path} is no checkout to compare with. Expected the root of a "
                f"checkout of this project, received a folder without {file}. Make one "
                "with `git worktree add FOLDER COMMIT`."
            )
    return root


def run(benchmark, options, until):
    """Compare all points of one benchmark; return whether no figure is worse."""
    sides = Side("old", checkout(options.against)), Side("new", ROOT)
    if options.smoke:
        benchmark = smoked(benchmark)
    good = True
    for label in benchmark.points:
        if time.monotonic() > until:
            print(f"{benchmark.name} {label}: no time left.")
            return False
        point = Point(benchmark.name, label, options.smoke)
        try:
            row = measure(benchmark, point, sides, options.turns)
        except RuntimeError as error:
            print(f"{benchmark.name} {label}: {error}", flush=True)
            good = False
            continue
        print(paired.text(benchmark, label, row), flush=True)
        good &= paired.is_kept(row)
    return good


def measure(benchmark, point, sides, turns):
    """Return a row: the complaints of the gate, or the figures and their ratios."""
    row = {"notes": [str(side) for side in sides]}
    with contextlib.ExitStack() as stack:
        # Separate processes: results for the gate take memory that steps would reuse.
        pair = [_started(side, point, stack) for side in sides]
        tolerances = _tolerances(benchmark)
        if not tolerances:
            row["notes"].append("results are not compared: there are no tolerances")
        row["complaints"] = _complaints(tolerances, pair)
        if row["complaints"]:
            return row
        row["repetitions"] = 1 if benchmark.kind == "memory" else _repetitions(pair)
    starts = math.ceil(turns / TURNS)
    row["turns"] = math.ceil(turns / starts)
    measured = _memory if benchmark.kind == "memory" else _time
    rounds = [
        measured(point, sides[:: -1 if start % 2 else 1], row)
        for start in range(starts)
    ]
    return row | paired.summary(rounds)


def _started(side, point, stack):
    """Start a process with the contender of a checkout; raise an error if it fails."""
    process = Process(side.name, root=side.root, path=[GUEST])
    stack.enter_context(contextlib.closing(process))
    _ask(process, "build", "benchmarks_guest:description", {})
    found = _ask(process, "results")
    for package, file in found["files"].items():
        if not pathlib.Path(file or "").is_relative_to(side.root):
            raise RuntimeError(
                f"The {side.name} code is not that of its checkout. Expected {package} "
                f"of {side.root}, received {file}. Compare with a whole checkout."
            )
    name = f"{point.name} {point.label}"
    if name not in found["work"]:
        raise RuntimeError(
            f"The {side.name} code does not measure this. Expected one of "
            f"{list(found['work'])}, received {name!r} for {side.root}. Choose one "
            "that both have, or compare with another commit."
        )
    process.work = found["work"][name]
    _ask(process, "build", "benchmarks_guest:contender", point._asdict())
    return process


def _ask(process, command, *arguments):
    """Return the answer of a process; raise an error if the process refuses."""
    try:
        return process.ask(command, *arguments)
    except Refused as refused:
        raise RuntimeError(
            f"The {process.name} code cannot be measured. Expected an answer to "
            f"{command!r}, received: {refused}. Repair it, or compare with another "
            "commit."
        ) from None


def _tolerances(benchmark):
    ours = next(iter(benchmark.contenders.values()))
    return benchmark.tolerances if ours.tolerances is None else ours.tolerances


def _complaints(tolerances, pair):
    """Return the differences in the work, or in its results."""
    old, new = (process.work for process in pair)
    differ = [key for key in new if new[key] != old.get(key, new[key])]
    if differ:
        return [f"old: {key} is {old[key]}, not {new[key]}" for key in differ]
    if not tolerances:  # the benchmark does not compare it with rivals either
        return []
    old, new = (_ask(process, "results") for process in pair)
    return gate.complaints("old", new, old, tolerances)


def _repetitions(pair):
    """Return how many repetitions take about `SECONDS` if nothing else runs."""
    fastest = min(_ask(process, "repeat")[0] for process in pair * (1 + WARM_UP))
    return min(MOST, max(1, round(SECONDS / fastest)))


def _memory(point, sides, row):
    """Return the bytes of the first step; no other process runs at the same time."""
    memory = {}
    for side in sides:
        with contextlib.ExitStack() as stack:
            process = _started(side, point, stack)
            memory[side.name] = [_ask(process, "memory")]
    return {"memory": memory}


def _time(point, sides, row):
    """Return the times of some turns of two new processes, and their peak memory."""
    repeated = ("wall", "processor", "others")
    found = {
        kind: {side.name: [] for side in sides}
        for kind in (*repeated, "memory", "peak")
    }
    with contextlib.ExitStack() as stack:
        pair = [_started(side, point, stack) for side in sides]
        for process in pair * WARM_UP:
            _ask(process, "repeat")
        for turn in range(row["turns"]):
            for name, answers in _turn(pair, row["repetitions"], turn).items():
                for kind, values in zip(
                    repeated, zip(*answers, strict=True), strict=True
                ):
                    found[kind][name].append(statistics.median(values))
        for process in pair:
            figures = _ask(process, "figures")
            found["memory"][process.name].append(figures["memory"])
            found["peak"][process.name].append(_ask(process, "peak"))
    return found


def _turn(pair, repetitions, turn):
    """Return answers by name; the order changes with each repetition and each turn.

    Repetitions of both are so close in time that other programs disturb both.
    """
    answers = {process.name: [] for process in pair}
    for repetition in range(repetitions):
        for process in pair[:: -1 if (turn + repetition) % 2 else 1]:
            answers[process.name].append(_ask(process, "repeat"))
    return answers
