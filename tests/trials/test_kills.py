"""A training that is killed and resumed gives what an uninterrupted one gives."""

import itertools
import random
import signal

import pytest

from tests.trials import file_operations
from tests.trials import training as trial
from tests.trials.progress import Jobs, check_equal, number, say, shortened

pytestmark = [pytest.mark.trial, pytest.mark.timeout(4 * 60 * 60)]
KILLS = number("KILLS", 200)
CHAIN = 8  # kills of one run at most: a slow machine might never end one
OPERATIONS = number("OPERATIONS", 40)  # at least; each kind once
# From where the time until the kill is drawn, and how often: most kills are to hit a
# training that has something to lose.
MOMENTS = {None: 1, trial.READY: 3, trial.VALIDATED: 4, trial.AVERAGED: 2}


@pytest.mark.parametrize("recipe", trial.RECIPES)
def test_two_uninterrupted_runs_are_equal(straight, recipe):
    assert straight(recipe).fingerprint


def test_killed_at_random_moments(straight, place):
    jobs, kills = Jobs(place, "random kills"), itertools.count(1)
    count = {"killed": 0}

    def chains():
        return itertools.takewhile(lambda _: count["killed"] < KILLS, itertools.count())

    def one(chain, folder):
        recipe = [*trial.RECIPES][chain % len(trial.RECIPES)]
        draw = random.Random(1409 + chain)
        for attempt in itertools.count(1):
            output = folder / f"output-{attempt}.txt"
            with trial.Training(folder / "work", recipe, output) as training:
                if attempt > CHAIN:
                    moment = training.check_end()
                else:
                    moment = _random_kill(training, draw, straight(recipe))
            if moment is None:
                break
            count["killed"] = next(kills)
            say(f"kill {count['killed']} of {KILLS}, chain {chain}: {moment}")
        check_equal(folder / "work" / "run", straight(recipe))
        say(f"chain {chain} ({recipe}) ended after {attempt - 1} kills: equal")

    for name in trial.RECIPES:
        straight(name)
    jobs.run(chains(), one)
    jobs.finish(f"{count['killed']} kills in {jobs.done} runs")


def _random_kill(training, draw, straight):
    """Kills at a drawn moment; returns it in words, None if the run ended before."""
    mark = draw.choices([*MOMENTS], [*MOMENTS.values()])[0]
    share = draw.uniform(0, 1.05)
    since = straight.marks[mark] if mark else 0
    until = straight.marks[trial.DONE if mark else trial.READY]
    if mark:
        training.wait_for(mark)
    code = training.wait(share * (until - since))
    code = training.kill() if code is None else code
    if code == -signal.SIGKILL:
        where = f"{training.seconds:.2f} s after the start, drawn after {mark!r}"
        what = training.text.strip().splitlines()
        return f"{where}, last line {what[-1][:60] if what else ''!r}"
    if code != 0:
        raise trial.Failed(f"refused or failed: {training.about()}")
    return None


def test_killed_at_file_operations(straight, logged, place, library):
    """Before each kind of operation that a run makes, at least once."""
    chosen = file_operations.choose(logged("all epochs"), OPERATIONS, lambda o: o.what)
    _kill_at(chosen, "all epochs", straight, place, library)


def test_killed_when_training_has_stopped_early(straight, logged, place, library):
    """After the last state there is no epoch left to do, although epochs remain."""
    operations = logged("stopped early")
    saved = [o for o in operations if o.kind == "rename" and "/state-" in o.path]
    after = [o for o in operations if o.number > saved[-1].number]
    chosen = file_operations.choose(after, OPERATIONS // 4, lambda o: o.kind)
    _kill_at(chosen, "stopped early", straight, place, library)


def _kill_at(chosen, recipe, straight, place, library):
    jobs, hits = Jobs(place, f"kills at operations, {recipe}"), set()
    chosen, uninterrupted = shortened(chosen), straight(recipe)
    kinds = {operation.what for operation in chosen}
    say(f"{recipe}: {len(chosen)} kills at {len(kinds)} kinds of operations")

    def one(operation, folder):
        work = folder / "work"
        training, done = trial.disturbed(folder, recipe, library, kill=operation.number)
        code, hit = training.process.returncode, done[-1]  # the order may vary a little
        if code not in (0, -signal.SIGKILL):
            raise trial.Failed(f"expected a kill, received {training.about()}")
        if code == 0:
            check_equal(work / "run", uninterrupted)
            say(f"{operation} was not reached: ended with 0, equal")
            return
        hits.add(hit.what)
        with trial.Training(work, recipe, folder / "output-2.txt") as after:
            after.check_end(f"killed before {hit}; refused")
        check_equal(work / "run", uninterrupted)
        how = "--resume" if after.is_resumed else "--out"
        say(f"killed before {hit}: {how} ends with 0, equal")

    jobs.run(chosen, one)
    missed = sorted(kinds - hits)
    jobs.finish(f"{jobs.done} of {len(chosen)} kills, kinds not hit: {missed}")


def test_killed_while_a_resumed_run_repairs(straight, logged, place, library):
    """A second kill in the first operations of a run that is resumed."""
    recipe, jobs = "all epochs", Jobs(place, "second kills")
    operations, uninterrupted = logged(recipe), straight(recipe)
    draw = random.Random(1409)
    renames = [o for o in operations if o.kind in ("rename", "unlink", "rmdir")]
    many = min(len(renames), max(1, OPERATIONS // 2))
    chosen = shortened(sorted(draw.sample(renames, many)))

    def one(operation, folder):
        work, hits = folder / "work", []
        second = random.Random(operation.number).randint(1, 60)
        for attempt, kill in enumerate((operation.number, second), 1):
            training, done = trial.disturbed(
                folder, recipe, library, attempt, kill=kill
            )
            code = training.process.returncode
            if code not in (0, -signal.SIGKILL):
                raise trial.Failed(f"killed before {hits}; refused: {training.about()}")
            hits += [str(done[-1])] if code else []
        trial.ended(work, recipe, folder / "output-3.txt")
        check_equal(work / "run", uninterrupted)
        say(f"killed before {' and '.join(hits)}: equal")

    jobs.run(chosen, one)
    jobs.finish(f"{jobs.done} of {len(chosen)} runs killed twice")
