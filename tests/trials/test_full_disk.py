"""A disk that fills while a training runs costs an error, and nothing else."""

import contextlib
import shutil
import subprocess

import pytest

from tests.trials import file_operations
from tests.trials.fingerprints import whole
from tests.trials.progress import Jobs, check_equal, number, say, shortened
from tests.trials.training import Failed, Training, disturbed, ended

pytestmark = [pytest.mark.trial, pytest.mark.timeout(60 * 60)]
MOMENTS = number("FULL", 20)  # at least; each file once
SHARES = (0.05, 0.2, 0.5, 0.8, 1.0, 1.1, 1.2, 1.3)  # of the size of a finished run
RECIPE = "all epochs"
# What was renamed into its place before the disk was full is there afterwards.
KEPT = {  # by the pattern of what was renamed: what is there then
    "run/run.json": "run.json",
    "run/history.jsonl": "history.jsonl",
    "run/translator": "translator/manifest.json",
    "run/checkpoints/validation.json": "checkpoints/validation.json",
    "run/checkpoints/best.weights.h#": "checkpoints/best.weights.h5",
    "run/checkpoints/state-#.weights.h#": "checkpoints/state-*.weights.h5",
}


def test_full_from_an_operation_on(straight, logged, place, library):
    jobs, uninterrupted = Jobs(place, "full disk"), straight(RECIPE)
    growing = [o for o in logged(RECIPE) if o.kind in file_operations.NEED_ROOM]
    chosen = shortened(file_operations.choose(growing, MOMENTS, lambda o: o.pattern))
    say(f"{len(chosen)} moments at which the disk gets full")

    def one(operation, folder):
        training, done = disturbed(folder, RECIPE, library, full=operation.number)
        before = [o for o in done if o.number < operation.number]
        kept = {o.pattern for o in before if o.kind == "rename"} & {*KEPT}
        how = _check_full(training, folder / "work" / "run", uninterrupted, kept)
        _check_goes_on(folder, uninterrupted)
        say(f"full from {operation} on: {how}; then resumed, equal")

    jobs.run(chosen, one)
    jobs.finish(f"{jobs.done} of {len(chosen)} moments")


def test_small_file_system(straight, place):
    """A real one, which fills by what the run itself writes."""
    jobs, uninterrupted = Jobs(place, "small file system"), straight(RECIPE)

    def one(share, folder):
        size = int(share * uninterrupted.size)
        with _small_disk(folder / "work", size) as make_room:
            output = folder / "output-1.txt"
            with Training(folder / "work", RECIPE, output) as training:
                training.wait()
            how = _check_full(training, folder / "work" / "run", uninterrupted, ())
            make_room()
            _check_goes_on(folder, uninterrupted)
        say(f"a disk of {size} bytes: {how}; then resumed, equal")

    jobs.run(SHARES, one)
    jobs.finish(f"{jobs.done} of {len(SHARES)} sizes")


def _check_full(training, run, straight, kept):
    """The code is right, and what was there before is whole; returns what happened."""
    code = training.process.returncode
    if code == 0:
        try:
            check_equal(run, straight)
        except Failed as error:
            text = f"ended with 0, but not all was written: {error}"
            raise Failed(f"{text}\n{training.about()}") from error
        return "ended with 0, and all was written"
    if code < 0 or "Traceback (most recent call last)" in training.text:
        raise Failed(f"crashed: {training.about()}")
    bad = whole(run) if run.exists() else []
    bad += [f"{name} is gone" for name in sorted(kept) if not [*run.glob(KEPT[name])]]
    if bad:
        raise Failed(f"after a full disk {bad}\n{training.about()}")
    return f"ended with {code}, what was there is whole"


def _check_goes_on(folder, straight):
    """There is room again: the run ends as if the disk had never been full."""
    ended(folder / "work", RECIPE, folder / "output-2.txt")
    check_equal(folder / "work" / "run", straight)


@contextlib.contextmanager
def _small_disk(folder, size):
    mount, umount = shutil.which("mount"), shutil.which("umount")
    kind = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if not mount or subprocess.run([mount, *kind], capture_output=True).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield lambda: subprocess.run(
            [mount, "-o", "remount,size=64m", str(folder)], check=True
        )
    except Failed:
        shutil.copytree(folder, folder.with_name("kept"))  # the mount goes away
        raise
    finally:
        subprocess.run([umount, str(folder)], check=True)
