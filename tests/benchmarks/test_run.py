"""From contenders to a file and a table: gate, notes, resuming, time that is over."""

import json

import pytest

from benchmarks import run
from benchmarks.registry import Benchmark, Entry, Tolerance

SLEEPER = "tests.benchmarks.contenders:sleeper"
POINTS = {"8": {"seconds": 0.002}, "16": {"seconds": 0.004}}


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Runs a benchmark of these rivals; gives the exit code and the rows."""

    def bench(rivals, *arguments, points=POINTS, ours=None, **fields):
        contenders = {"ours": ours or Entry(SLEEPER), **rivals}
        benchmark = Benchmark(
            "naps",
            "How long it sleeps,",
            contenders,
            points,
            (Tolerance("answer", 1e-3),),
            axis="milliseconds",
            repetitions=4,
            **fields,
        )
        monkeypatch.setattr(run, "BENCHMARKS", {"naps": benchmark})
        code = run.main([*arguments, "--results", str(tmp_path)])
        path = tmp_path / "naps.json"
        return code, json.loads(path.read_text())["points"] if path.exists() else {}

    return bench


@pytest.mark.system
def test_rows_are_measured_once(bench, capsys):
    rivals = {
        "twin": Entry(SLEEPER, {"tokens": 5}),
        "absent": Entry("tests.benchmarks.contenders:missing"),
        "elsewhere": Entry(SLEEPER, python="/no/such/python"),
    }
    code, rows = bench(rivals, counts_flops=True)
    text = capsys.readouterr().out
    assert code == 0 and list(rows) == ["8", "16"]
    assert [len(x) for x in rows["8"]["wall"].values()] == [4, 4]
    assert rows["8"]["gemm_peak_gflops"] > 0
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
    hungry = Entry("tests.benchmarks.contenders:hungry")
    points = {"30": {"megabytes": 30}}
    twin = hungry._replace(options={"learns": 0.5})
    code, rows = bench({"twin": twin}, points=points, ours=hungry, kind="memory")
    assert code == 0  # what is compared has not learned yet
    assert 25e6 < rows["30"]["memory"]["twin"] < 60e6
    assert rows["30"]["notes"] == ["ours: ate", "twin: ate"]
    assert "MB above those after build" in capsys.readouterr().out


def test_ours_must_run(bench, capsys):
    code, rows = bench({}, ours=Entry("tests.benchmarks.contenders:missing"))
    assert (code, rows) == (1, {})
    assert "ours cannot be measured" in capsys.readouterr().out


def test_no_point_is_begun_when_time_is_over(bench, capsys):
    assert bench({}, "--minutes", "0") == (0, {})
    assert "no time left; the same command goes on" in capsys.readouterr().out


def test_what_the_environment_lacks(bench, capsys, monkeypatch):
    monkeypatch.delenv("NO_SUCH_DATA", raising=False)
    assert bench({}, needs=("NO_SUCH_DATA",)) == (0, {})
    assert bench({}, "naps", needs=("NO_SUCH_DATA",)) == (1, {})  # asked for
    assert "naps is left out: NO_SUCH_DATA is not set" in capsys.readouterr().out


def test_unknown_names(capsys):
    with pytest.raises(SystemExit):
        run.main(["no_such_benchmark"])
    assert "expected of ['train_step'" in capsys.readouterr().err
