"""docs/benchmarks.md is made of the files of results."""

import argparse
import re

import pytest

from benchmarks import docs, store
from benchmarks.catalogue import BENCHMARKS


@pytest.fixture
def options(tmp_path):
    return argparse.Namespace(results=tmp_path / "results", docs=tmp_path / "docs")


@pytest.fixture
def page():
    return (docs.DOCS / "benchmarks.md").read_text("utf-8")


def row(benchmark, seconds):
    """As `measure` writes it; the first contender takes so long, the second twice."""
    one, two = list(benchmark.contenders)[:2]
    return {
        **store.stamp({}),
        **{"ours": one, "notes": ["rival is left out: it rains"], "complaints": []},
        **{"tokens": {one: 2000, two: 2000}, "flops": {one: 50e9, two: 50e9}},
        **{"figures": {one: {"waits, in ms": 0.1234}}, "memory": {one: 3e8, two: 6e8}},
        **{"wall": {one: [seconds] * 3, two: [2 * seconds] * 3}},
        **{"processor": {one: [seconds] * 3, two: [4 * seconds] * 3}},
        **{"gemm_peak_gflops": 125.0, "processors": 2, "others": 0.25},
        "versions": {"keras": "3.15.1"},
    }


def measured(options, name):
    benchmark = BENCHMARKS[name]
    rows = {label: row(benchmark, 2.0) for label in benchmark.points}
    store.save(options.results, benchmark, rows)
    text = docs.written((docs.DOCS / "benchmarks.md").read_text("utf-8"), options)
    mark = rf"<!-- measured: {name} -->\n(.*)\n<!-- end: {name} -->"
    return re.search(mark, text, re.DOTALL)[1].splitlines()


def test_every_benchmark_has_its_place_and_the_page_shows_what_is_kept(page, options):
    places = re.findall(r"<!-- measured: (\w+) -->", page)
    assert sorted(places) == sorted(docs.names())
    text = docs.written(page, options)
    assert text.count("Not measured yet: `python -m benchmarks.run ") == len(BENCHMARKS)
    assert docs.written(text, options) == text
    with pytest.raises(ValueError, match="no place for train_step"):
        docs.written("no marks", options)
    # All tables of all benchmarks. If it is not: make bench-docs
    options.results = docs.DOCS / docs.KEPT
    assert docs.written(page, options) == page


def test_a_new_result_takes_the_place_of_an_old_one(options, tmp_path):
    kept, result = tmp_path / "kept", options.results / "operations.json"
    result.parent.mkdir()
    for text in ("old", "new"):
        result.write_text(text)
        result.with_suffix(".new").write_text("half a file")
        assert docs.keep(options.results, kept) == kept
    result.unlink()
    docs.keep(options.results, kept)
    assert [x.name for x in kept.iterdir()] == ["operations.json"]
    assert (kept / "operations.json").read_text() == "new"


def test_a_table_of_times(options):
    lines = measured(options, "train_step")
    head, _, ours, second, *_ = lines
    assert head.split(" | ")[-1] == "share of GEMM peak |"
    assert ours.split(" | ")[1:4] == ["400.00 ms", "400.00 ms", "1.000"]
    assert second.split(" | ")[3:5] == ["0.500", "0.250"]
    assert ours.endswith("| 100% |")  # 50 GFLOP in 0.4 s, at 125 a second
    assert "- keras_seqattn: waits, in ms 0.12" in lines
    assert "- rival is left out: it rains" in lines
    assert lines[-1].endswith("keras 3.15.1: `python -m benchmarks.run train_step`.")


FIRST = {
    "length": "| 8 | 1,000 | 500 |  |",
    "memory_length": "| 50 | 300 | 600 |  |",
    "attention_cost": "| 50 | 2,000 | 4,000 |",
}


@pytest.mark.parametrize("name, line", FIRST.items())
def test_a_picture_of_several_points(options, name, line):
    picture, _, _, _, first, *_ = measured(options, name)
    assert first == line
    path = re.search(r"\((.*)\)", picture)[1]
    assert (options.docs / path).stat().st_size > 10_000
