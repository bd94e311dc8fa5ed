"""`python -m benchmarks.run [NAME ...]`: benchmarks, one after the other.

Results in `benchmarks/results` are shown and not measured again, so a stopped run can
be continued. `--again` measures again; `--smoke` only tests whether everything runs.
`--against WORKTREE` compares ours with ours of another checkout, and keeps no results.
"""

import argparse
import os
import sys
import time

from benchmarks import against, measure, store, table
from benchmarks.catalogue import BENCHMARKS
from benchmarks.processes import Refused
from benchmarks.registry import smoked


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"default: {', '.join(BENCHMARKS)}")
    parser.add_argument("--again", action="store_true", help="measured or not")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, no results")
    parser.add_argument("--repetitions", type=int, help="of every point, at most")
    parser.add_argument(
        "--minutes", type=float, default=90.0, help="then no point is begun (90)"
    )
    parser.add_argument(
        "--against",
        metavar="WORKTREE",
        help="a checkout whose code takes turns with ours",
    )
    parser.add_argument("--turns", type=int, default=20, help="with --against (20)")
    parser.add_argument("--results", default=store.RESULTS, metavar="FOLDER")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"got {unknown}, expected of {list(BENCHMARKS)}")
    if options.against is not None:
        try:
            against.check(options)
        except ValueError as error:
            parser.error(str(error))
    chosen = [BENCHMARKS[name] for name in options.names or BENCHMARKS]
    until = time.monotonic() + 60 * options.minutes
    return int(not all([run(benchmark, options, until) for benchmark in chosen]))


def run(benchmark, options, until):
    """Run all points of one benchmark; return whether all agree."""
    missing = [name for name in benchmark.needs if name not in os.environ]
    if missing:
        print(f"{benchmark.name} is left out: {', '.join(missing)} is not set.")
        return not options.names
    if options.against is not None:
        return against.run(benchmark, options, until)
    if options.smoke:
        benchmark = smoked(benchmark)
    if options.repetitions:
        benchmark = benchmark._replace(repetitions=options.repetitions)
    rows, good = store.load(options.results, benchmark), True
    for label, sizes in benchmark.points.items():
        known = store.is_measured(rows, label, sizes)
        if known and not options.again and not options.smoke:
            said = f"  Measured on {rows[label]['day']} at {rows[label]['commit']}"
            print(table.text(benchmark, label, rows[label]), f"{said}.", sep="\n")
            continue
        if time.monotonic() > until:
            print(f"{benchmark.name} {label}: no time left; the same command goes on.")
            continue
        try:
            row = {**store.stamp(sizes), **measure.measure(benchmark, sizes)}
        except (Refused, RuntimeError) as error:
            print(f"{benchmark.name} {label}: {error}", flush=True)
            good = False
            continue
        print(table.text(benchmark, label, row), flush=True)
        good &= not row["complaints"]
        if not options.smoke:
            rows[label] = row
            store.save(options.results, benchmark, rows)
    return good


if __name__ == "__main__":
    sys.exit(main())
