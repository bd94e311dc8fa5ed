"""The uninterrupted runs that all trials compare with, and where runs are kept."""

import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.trials import file_operations
from tests.trials.fingerprints import differences, fingerprint, leftovers
from tests.trials.progress import say
from tests.trials.training import AVERAGED, DONE, READY, VALIDATED, Training, disturbed


class Straight(NamedTuple):
    """An uninterrupted run: what it left, and when it did what, in seconds."""

    fingerprint: dict
    marks: dict
    seconds: float
    size: int  # bytes on the disk, pages of 4096


@pytest.fixture(scope="session")
def place(request):
    parent = os.environ.get("KERAS_SEQATTN_TRIAL_FOLDER")
    folder = Path(tempfile.mkdtemp(prefix="seqattn-trials-", dir=parent))
    yield folder
    if not request.session.testsfailed:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def library(place):
    (place / "library").mkdir()
    return file_operations.build(place / "library")


@pytest.fixture(scope="session")
def logged(place, library):
    """A function from the name of a recipe to the operations of a run."""

    @functools.cache
    def get(recipe):
        folder = _new(place, "logged-")
        (folder / "work").mkdir()
        training, operations = disturbed(folder, recipe, library)
        training.check_end()
        shutil.rmtree(folder)
        return operations

    return get


@pytest.fixture(scope="session")
def straight(place):
    """A function from the name of a recipe to its uninterrupted run."""
    return functools.cache(lambda recipe: _straight(_new(place, "straight-"), recipe))


def _new(place, prefix):
    return Path(tempfile.mkdtemp(prefix=prefix, dir=place))


def _straight(folder, recipe):
    """Runs it twice: a trial means something only if both are equal."""
    first = _once(folder / "first", recipe)
    second = _once(folder / "second", recipe)
    if different := differences(first.fingerprint, second.fingerprint):
        pytest.fail(f"two uninterrupted runs differ, see {folder}: {different[:5]}")
    shutil.rmtree(folder)
    say(f"uninterrupted, {recipe}: {second.seconds:.1f} s, two runs are equal")
    return second


def _once(folder, recipe):
    (folder / "work").mkdir(parents=True)
    run = folder / "work" / "run"
    with Training(folder / "work", recipe, folder / "output.txt") as training:
        lines = READY, VALIDATED, AVERAGED, DONE
        marks = {text: training.wait_for(text) for text in lines}
        training.check_end("an uninterrupted run failed")
        if None in marks.values():
            pytest.fail(f"expected the run to print {[*marks]}, received {marks}")
        seconds = training.seconds
    if left := leftovers(run):
        pytest.fail(f"an uninterrupted run left {left}, see {folder}")
    sizes = [path.stat().st_size for path in run.rglob("*") if path.is_file()]
    pages = sum(-(-size // 4096) * 4096 for size in sizes)
    return Straight(fingerprint(run), marks, seconds, pages)
