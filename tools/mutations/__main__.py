"""`python -m tools.mutations draw | where | run | compare`: do the tests catch faults?

`draw` chooses small faults of the library by a seed and writes `tools/mutations.json`.
`run` puts each fault into a copy of the project, runs its tests there, and records
whether a test failed. `compare` checks that the faults caught before a change are still
caught after it. `where` prints the present place of each fault, in a second.

    python -m tools.mutations run --results after.json
    python -m tools.mutations compare tools/mutations_before.json after.json

A fault is found by the text of its line. If the line was rewritten, add to its record
in tools/mutations.json:

    "now": {"path": "keras_seqattn/...", "line": "...", "mutated": "..."}

If the file has several such lines, add `"holds": "..."`, a part of the statement, such
as the words of an error, or `"nth": 2` for the second line. `"tests": [...]` chooses
other tests than those of its folder. If the code was deleted, add only `"gone": "why"`.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

from tools.mutations import campaign, comparing
from tools.mutations.drawing import draw
from tools.mutations.finding import NotFound, find
from tools.mutations.sources import sources

ROOT = Path(__file__).parents[2]
FAULTS = "tools/mutations.json"


def main(arguments=None, root=ROOT):
    """Run one of the four commands, and return the exit code."""
    options = parsed(arguments)
    path = Path(root, FAULTS)
    if options.command == "draw":
        records = draw(root, options.seed, options.count)
        campaign.save(path, {"seed": options.seed, "faults": records})
        print(f"{len(records)} faults are in {path}.")
        return 0
    records = json.loads(path.read_text(encoding="utf-8"))["faults"]
    if options.command == "compare":
        before, after = campaign.load(options.before), campaign.load(options.after)
        print(comparing.table(records, before, after))
        lost = comparing.lost(records, before, after)
        print(*lost, sep="\n")
        return int(bool(lost))
    records = [one for one in records if not options.only or one["id"] in options.only]
    records = [one for one in records if "gone" not in one.get("now", {})]
    if options.command == "where":
        return where(records, sources(root))
    return run(root, records, options)


def parsed(arguments):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw", help="choose new faults")
    draw.add_argument("--seed", type=int, default=18)
    draw.add_argument("--count", type=int, default=60)
    run = commands.add_parser("run", help="run tests against faults")
    run.add_argument(
        "--results", required=True, metavar="FILE", help="a second run continues it"
    )
    run.add_argument(
        "--again", action="store_true", help="also faults that have a result"
    )
    run.add_argument("--seconds", type=float, default=170, help="for each fault (170)")
    run.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    where = commands.add_parser("where", help="find the faults, run nothing")
    for command in (run, where):
        command.add_argument("--only", nargs="+", metavar="ID", default=())
    compare = commands.add_parser("compare", help="fail if a fault is no longer caught")
    compare.add_argument("before")
    compare.add_argument("after")
    return parser.parse_args(arguments)


def where(records, texts):
    """Print where the faults are; return 1 if some have no place."""
    missing = 0
    for record in records:
        try:
            place = find(record, texts)
        except NotFound as error:
            missing += 1
            print(error)
            continue
        moved = "" if place.path == record["path"] else f" (was in {record['path']})"
        at = f"{place.path}:{place.number}{moved}"
        print(f"{record['id']} {at}  {place.line.strip()}")
    print(f"{len(records) - missing} of {len(records)} are found.")
    return int(bool(missing))


def run(root, records, options):
    """Run the tests, and print the faults that no test caught."""
    begun = time.monotonic()
    path = os.path.abspath(options.results)
    results = campaign.run(
        root, records, path, options.seconds, options.jobs, options.again
    )
    others = [name for name in results if not campaign.is_caught(results[name])]
    minutes = (time.monotonic() - begun) / 60
    count = len(results) - len(others)
    print(f"{count} of {len(results)} are caught, after {minutes:.0f} minutes.")
    print(f"Not caught: {', '.join(others) or 'none'}.")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no test stays behind
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on from here.")
