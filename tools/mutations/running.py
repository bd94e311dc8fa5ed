"""Run tests against faults, each in its own copy of the project."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tools.mutations.choice import runs
from tools.mutations.finding import find
from tools.mutations.sources import PACKAGE, sources

CAUGHT = ("caught", "timeout")
ONE_TEST = 120  # seconds: longer than any test takes, so it hangs
MEMORY = 10  # GB of one process, for a fault that never stops to ask for more
NO_TESTS = 5  # pytest: all were deselected
LIMITED = f'ulimit -d {MEMORY * 2**20} 2>/dev/null; exec "$@"'


def snapshot(root, folder):
    """Copy the files of the checkout that git knows, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = Path(root, name), Path(folder, name)
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


@contextlib.contextmanager
def copied(original, folder):
    """Yield a copy that may be changed, with its own home folder; delete both."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, Path(folder, "project"), symlinks=True)
    for name in ("home", "tmp"):
        Path(folder, name).mkdir()
    try:
        yield Path(folder, "project")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def environment(project):
    """Return an environment that reads and writes no files of the user."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "XDG_", "KERAS_", "COV_"))
    }
    return kept | {
        "PYTHONPATH": str(project),
        "HOME": str(project.parent / "home"),
        "TMPDIR": str(project.parent / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",  # no bytecode of the code before the fault
        "KERAS_BACKEND": "tensorflow",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def check_import(project):
    """Check that the tests import the copy, not an installed library."""
    code = f"import importlib.util; print(importlib.util.find_spec({PACKAGE!r}).origin)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
    )
    wanted = project / PACKAGE / "__init__.py"
    if done.stdout.strip() != str(wanted):
        raise RuntimeError(
            f"The tests would not test the copy. Expected {PACKAGE} of {wanted}, "
            f"received {done.stdout.strip() or done.stderr!r}. Check PYTHONPATH and "
            "what is installed."
        )


def against(record, original, folder, seconds, stopping):
    """Run the tests of one fault.

    Args:
        record: of the fault.
        original: folder with the project without faults.
        folder: path of a folder to work in.
        seconds: limit of all tests together.
        stopping: event; when it is set, tests are stopped.

    Returns:
        dict: `outcome` ("caught", "timeout": one test hung, "survived", "time": no
        test failed in the given time, "not found", "stopped"), `seconds`, `by`: the
        test that failed, `at`: where the fault was. If pytest ended without naming a
        test, `arguments` has those of pytest, until `confirm` has checked them.
    """
    begun = time.monotonic()
    with copied(original, folder) as project:
        try:
            place = find(record, sources(project))
            todo = runs(project, record, place)
        except ValueError as error:  # the place or its tests
            return {"outcome": "not found", "seconds": 0.0, "by": str(error)}
        put_in(project, place)
        for arguments in todo:
            left = seconds - (time.monotonic() - begun)
            outcome, by = tested(project, arguments, left, stopping)
            if outcome != "survived":
                break
    result = {
        "outcome": outcome,
        "seconds": round(time.monotonic() - begun, 1),
        "by": by,
        "at": f"{place.path}:{place.number}",
    }
    is_unnamed = outcome == "caught" and not by.startswith("tests/")
    return result | ({"arguments": arguments} if is_unnamed else {})


def put_in(project, place):
    """Write the fault into the copy."""
    path = project / place.path
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[place.number - 1] = place.line
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tested(project, arguments, seconds, stopping):
    """Run pytest; return its outcome, and the first test that failed."""
    if seconds <= 0:
        return "time", None
    options = ["-x", "-q", "-p", "no:cacheprovider"]
    options += [f"--timeout={ONE_TEST}", "--timeout-method=thread"]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    with open(project.parent / "output", "w+", errors="replace") as output:
        code = ended(command, project, output, seconds, stopping)
        output.seek(0)
        printed = output.read()
    if code is None:
        return ("stopped" if stopping.is_set() else "time"), None
    if code in (0, NO_TESTS):
        return "survived", None
    if "+ Timeout +" in printed:
        return "timeout", None
    failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", printed, re.MULTILINE)
    return "caught", failed[0] if failed else f"pytest ended with {code}"


def ended(command, project, output, seconds, stopping):
    """Return the exit code; None after a timeout. All processes are stopped."""
    process = subprocess.Popen(
        ["sh", "-c", LIMITED, "sh", *command],
        cwd=project,
        env=environment(project),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    until = time.monotonic() + seconds
    try:
        while process.poll() is None:
            if time.monotonic() > until or stopping.is_set():
                return None
            time.sleep(0.1)
        return process.returncode
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
