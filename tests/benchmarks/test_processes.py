"""A contender in a process of its own answers, or says why not."""

import contextlib

import numpy as np
import pytest

from benchmarks.processes import Process, Refused

MODULE = "tests.benchmarks.contenders"


@pytest.fixture
def process():
    with contextlib.closing(Process("contender")) as process:
        yield process


def test_answers(process):
    options = {"seconds": 1.0, "answer": 3.0, "tokens": 7}
    built = process.ask("build", f"{MODULE}:sleeper", options)
    assert built == {"tokens": 7, "notes": ("slept",), "versions": {}}
    np.testing.assert_array_equal(process.ask("results")["answer"], [3.0, 2.0])
    wall, own, others = process.ask("repeat")
    assert wall >= 1.0 and own < 0.5 and others >= -0.1  # it slept
    assert process.ask("flops") == 10
    assert process.ask("figures") == {"a figure": 0.25}


def test_memory_is_that_of_the_step(process):
    process.ask("build", f"{MODULE}:hungry", {"megabytes": 200})
    assert 190e6 < process.ask("memory") < 250e6


@pytest.mark.parametrize(
    "made, command, reason",
    [
        ("missing", "build", "no such library: pip install it"),
        (
            "wrong",
            "repeat",
            "ZeroDivisionError: division by zero (contenders.py, line ",
        ),
        ("dying", "build", "its process ended with code 3: last words"),
    ],
)
def test_refusals(process, made, command, reason):
    with pytest.raises(Refused) as refused:
        process.ask("build", f"{MODULE}:{made}", {})
        process.ask(command)
    assert str(refused.value).startswith(reason)


def test_a_module_that_is_not_installed(process):
    with pytest.raises(Refused, match="No module named 'no_such_library'"):
        process.ask("build", "no_such_library:train", {})
