"""From contenders to a file and a table: gate, notes, resuming, time that is over."""

import contextlib
import json

import numpy as np
import pytest

from benchmarks import run
from benchmarks.gate import complaints
from benchmarks.processes import Process, Refused
from benchmarks.registry import Benchmark, Entry, Tolerance

MODULE = "tests.benchmarks.contenders"
SLEEPER = f"{MODULE}:sleeper"
POINTS = {"8": {"seconds": 0.002}, "16": {"seconds": 0.004}}


@pytest.fixture
def bench(monkeypatch, tmp_path):
    def bench(rivals, *arguments, points=POINTS, ours=None, **fields):
        contenders = {"ours": ours or Entry(SLEEPER), **rivals}
        what = "naps", "How long it sleeps,", contenders, points
        fields |= {"axis": "milliseconds", "repetitions": 4}
        benchmark = Benchmark(*what, (Tolerance("answer", 1e-3),), **fields)
        monkeypatch.setattr(run, "BENCHMARKS", {"naps": benchmark})
        code = run.main([*arguments, "--results", str(tmp_path)])
        path = tmp_path / "naps.json"
        return code, json.loads(path.read_text())["points"] if path.exists() else {}

    return bench


@pytest.mark.system
def test_rows_are_measured_once(bench, capsys):
    rivals = {
        "twin": Entry(SLEEPER, {"tokens": 5}),
        "absent": Entry(f"{MODULE}:missing"),
        "elsewhere": Entry(SLEEPER, python="/no/such/python"),
    }
    code, rows = bench(rivals, counts_flops=True)
    text = capsys.readouterr().out
    assert code == 0 and list(rows) == ["8", "16"]
    assert [len(x) for x in rows["8"]["wall"].values()] == [4, 4]
    assert rows["8"]["gemm_peak_gflops"] == 500
    assert "absent is left out: no such library: pip install it" in text
    assert "elsewhere is left out: make bench-elsewhere" in text
    assert "naps: How long it sleeps, milliseconds 16." in text
    assert "ours: a figure 0.25" in text
    assert bench(rivals, counts_flops=True) == (0, rows)
    assert "Measured on" in capsys.readouterr().out
    points = {"8": POINTS["8"], "16": {"seconds": 0.005}}  # other options: again
    _, again = bench({}, points=points)
    assert again["8"] == rows["8"] and list(again["16"]["wall"]) == ["ours"]


def test_no_figures_of_contenders_that_disagree(bench, capsys):
    code, rows = bench({"other": Entry(SLEEPER, {"answer": 1.1})})
    text = capsys.readouterr().out
    assert code == 1 and "wall" not in rows["8"]
    assert "no figures: they disagree" in text
    assert "other: answer differs by 5.0e-02" in text


def test_memory(bench, capsys):
    hungry = Entry(f"{MODULE}:hungry")
    points = {"30": {"megabytes": 30}}
    twin = hungry._replace(options={"learns": 0.5})
    code, rows = bench({"twin": twin}, points=points, ours=hungry, kind="memory")
    assert code == 0  # what is compared has not learned yet
    assert 25e6 < rows["30"]["memory"]["twin"] < 60e6
    assert rows["30"]["notes"] == ["ours: ate", "twin: ate"]
    assert "MB above those after build" in capsys.readouterr().out


def test_ours_must_run_in_time_with_what_it_needs(bench, capsys, monkeypatch):
    code, rows = bench({}, ours=Entry(f"{MODULE}:missing"))
    assert (code, rows) == (1, {})
    assert "ours cannot be measured" in capsys.readouterr().out
    assert bench({}, "--minutes", "0") == (0, {})
    assert "no time left; the same command goes on" in capsys.readouterr().out
    monkeypatch.delenv("NO_SUCH_DATA", raising=False)
    assert bench({}, needs=("NO_SUCH_DATA",)) == (0, {})
    assert bench({}, "naps", needs=("NO_SUCH_DATA",)) == (1, {})  # asked for
    assert "naps is left out: NO_SUCH_DATA is not set" in capsys.readouterr().out


TOLERANCES = (Tolerance("loss", 1e-2), Tolerance("texts", 0.5))
LOSS, TEXTS = np.array([1.0, -100.0]), np.array(["a", "b"])


@pytest.mark.parametrize(
    "ours, theirs, complaint",
    [
        ({"loss": LOSS}, {"loss": LOSS + 0.9}, None),  # of the largest entry
        ({"loss": LOSS}, {"loss": LOSS + 1.1}, "rival: loss differs by 1.1e-02"),
        ({"loss": LOSS}, {"loss": LOSS * np.nan}, "rival: loss differs by nan"),
        ({"loss": LOSS}, {"loss": LOSS[None]}, "rival: loss differs by inf"),
        ({"loss": LOSS}, {}, "rival: only one of the two has loss"),
        ({}, {"loss": LOSS}, "rival: only one of the two has loss"),
        ({"texts": TEXTS}, {"texts": np.array(["a", "c"])}, None),
        ({"texts": TEXTS}, {"texts": TEXTS[::-1]}, "rival: texts differs by 1.0e+00"),
    ],
)
def test_complaints(ours, theirs, complaint):
    found = complaints("rival", ours, theirs, TOLERANCES)
    assert found == ([] if complaint is None else [complaint])


def test_a_result_without_a_tolerance():
    with pytest.raises(ValueError, match="No tolerance for the result 'score'"):
        complaints("rival", {"score": LOSS}, {"score": LOSS}, TOLERANCES)


@pytest.fixture
def process():
    with contextlib.closing(Process("contender")) as process:
        yield process


def test_answers(process):
    options = {"seconds": 0.4, "answer": 3.0, "tokens": 7}
    built = process.ask("build", SLEEPER, options)
    assert built == {"tokens": 7, "notes": ("slept",), "versions": {}}
    np.testing.assert_array_equal(process.ask("results")["answer"], [3.0, 2.0])
    wall, own, others = process.ask("repeat")
    assert wall >= 0.4 and own < 0.3 and others >= -0.1  # it slept
    assert process.ask("flops") == 10
    assert process.ask("figures") == {"a figure": 0.25}


@pytest.mark.parametrize(
    "made, command, reason",
    [
        ("no_such_library:train", "build", "No module named 'no_such_library'"),
        (f"{MODULE}:wrong", "repeat", "ZeroDivisionError: division by zero (contend"),
        (f"{MODULE}:dying", "build", "its process ended with code 3: last words"),
    ],
)
def test_refusals(process, made, command, reason):
    with pytest.raises(Refused) as refused:
        process.ask("build", made, {})
        process.ask(command)
    assert str(refused.value).startswith(reason)
