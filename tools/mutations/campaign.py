"""Run the tests against all faults, and store the results in a file."""

import concurrent.futures
import json
import os
import tempfile
import threading
import time
from pathlib import Path

from tools.mutations.running import (
    CAUGHT,
    ONE_TEST,
    against,
    check_import,
    copied,
    snapshot,
    tested,
)


def load(path):
    """Return results by the names of faults; none if there is no file yet."""
    path = Path(path)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(path, content):
    """Write a file completely or not at all."""
    part = Path(f"{path}.part")
    text = json.dumps(content, indent=1, ensure_ascii=False)
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)


def run(root, records, path, seconds, jobs, again=False):
    """Run faults without a result; each result is stored as soon as it is known.

    Args:
        root: of the project.
        records: of the faults.
        path: of the file of results.
        seconds: limit for each fault.
        jobs: how many at a time.
        again: also those that have a result.

    Returns:
        the results of these faults.
    """
    results = load(path)
    todo = [one for one in records if again or not is_run(results.get(one["id"]))]
    print(f"{len(todo)} of {len(records)} are to run, {jobs} at a time.", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutations-") as work:
        work = Path(os.path.realpath(work))
        original = work / "original"
        snapshot(root, original)
        with copied(original, work / "check") as project:
            check_import(project)
        for record, result in outcomes(todo, original, work, seconds, jobs):
            if result["outcome"] != "stopped":
                results[record["id"]] = result
                save(path, dict(sorted(results.items())))
                print(line(record, result), flush=True)
        confirm(original, work, records, results)
        save(path, dict(sorted(results.items())))
    return {record["id"]: results.get(record["id"]) for record in records}


def outcomes(todo, original, work, seconds, jobs):
    """Yield `(record, result)` as they come; an interruption stops all tests."""
    stopping = threading.Event()

    def one(record):
        if stopping.is_set():
            return {"outcome": "stopped"}
        return against(record, original, work / record["id"], seconds, stopping)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(one, record): record for record in todo}
        try:
            for future in concurrent.futures.as_completed(futures):
                yield futures[future], future.result()
        finally:
            stopping.set()


def confirm(original, work, records, results):
    """Check that the failed tests pass without a fault; else they prove nothing."""
    some = [results[one["id"]] for one in records if one["id"] in results]
    some = [one for one in some if one["outcome"] == "caught" and "sure" not in one]
    if not some:
        return
    with copied(original, work / "confirm") as project:
        named = {one["by"] for one in some if "arguments" not in one}
        passing = pass_alone(project, sorted(named)) if named else []
        for one in some:
            # Without the name of a test, pytest may have ended for any reason.
            arguments = one.pop("arguments", None)
            is_sure = one["by"] in passing or arguments and starts(project, arguments)
            one["sure"] = bool(is_sure)
            if not is_sure:
                one["outcome"] = "fails anyway"


def starts(project, arguments):
    """Return whether pytest finds its tests without a fault."""
    arguments, never = [*arguments, "--collect-only"], threading.Event()
    return tested(project, arguments, ONE_TEST, never)[0] == "survived"


def pass_alone(project, tests):
    """Return the tests that pass: all are run at once, or by halves if that fails."""

    def good(*tests):
        limit, never = 60 + 30 * len(tests), threading.Event()
        return tested(project, tests, limit, never)[0] == "survived"

    if good(*tests):
        return tests
    if len(tests) == 1:  # the values of its parameter may be the library's
        return tests if good(tests[0].partition("[")[0]) else []
    half = len(tests) // 2
    return pass_alone(project, tests[:half]) + pass_alone(project, tests[half:])


def is_run(result):
    """Return whether nothing is left to do."""
    return bool(result) and result["outcome"] != "not found"


def line(record, result):
    """Return the line that is printed for a result."""
    seconds, by = f"{result['seconds']:.0f} s", result.get("by") or ""
    return (
        f"{time.strftime('%H:%M')} {record['id']} {result['outcome']:9} {seconds:>6}  "
        f"{record['kind']:13} {result.get('at', record['path'])}  {by}"
    )


def is_caught(result):
    """Return whether tests caught the fault; `result` may be None."""
    return bool(result) and result["outcome"] in CAUGHT
