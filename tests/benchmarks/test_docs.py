"""docs/benchmarks.md is made of the files of results."""

import argparse
import json
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
    names = list(benchmark.contenders)[:2]
    return {
        **store.stamp({}),
        "ours": names[0],
        "notes": ["rival is left out: it rains"],
        "versions": {"keras": "3.15.1"},
        "complaints": [],
        "tokens": dict.fromkeys(names, 2000),
        "flops": dict.fromkeys(names, 50e9),
        "figures": {names[0]: {"waits, in ms": 0.1234}},
        "wall": {names[0]: [seconds] * 3, names[1]: [2 * seconds] * 3},
        "processor": {names[0]: [seconds] * 3, names[1]: [4 * seconds] * 3},
        "memory": {names[0]: 3e8, names[1]: 6e8},
        "gemm_peak_gflops": 125.0,
        "processors": 2,
        "others": 0.25,
    }


def measured(options, name):
    """The lines of the page between the marks, and the benchmark."""
    benchmark = BENCHMARKS[name]
    rows = {label: row(benchmark, 2.0) for label in benchmark.points}
    store.save(options.results, benchmark, rows)
    text = docs.written((docs.DOCS / "benchmarks.md").read_text("utf-8"), options)
    mark = rf"<!-- measured: {name} -->\n(.*)\n<!-- end: {name} -->"
    return re.search(mark, text, re.DOTALL)[1].splitlines()


def test_every_benchmark_has_its_place(page, options):
    places = re.findall(r"<!-- measured: (\w+) -->", page)
    assert sorted(places) == sorted(docs.names())
    text = docs.written(page, options)
    assert text.count("Not measured yet: `python -m benchmarks.run ") == len(BENCHMARKS)
    assert docs.written(text, options) == text
    with pytest.raises(ValueError, match="no place for train_step"):
        docs.written("no marks", options)


def test_the_page_is_that_of_the_kept_results(page, options):
    """Else: make bench-docs"""
    options.results = docs.DOCS / docs.KEPT
    assert docs.written(page, options) == page


def test_a_new_result_takes_the_place_of_an_old_one(options, tmp_path):
    options.results.mkdir()
    kept = tmp_path / "kept"
    for text in ("old", "new"):
        (options.results / "operations.json").write_text(text)
        (options.results / "operations.new").write_text("half a file")
        assert docs.keep(options.results, kept) == kept
    (options.results / "operations.json").unlink()
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


@pytest.mark.parametrize(
    "name, cells",
    [
        ("length", ["8", "1,000", "500", ""]),
        ("memory_length", ["50", "300", "600", ""]),
        ("attention_cost", ["50", "2,000", "4,000"]),
    ],
)
def test_a_picture_of_several_points(options, name, cells):
    picture, _, _, _, first, *_ = measured(options, name)
    assert first == f"| {' | '.join(cells)} |"
    path = re.search(r"\((.*)\)", picture)[1]
    assert (options.docs / path).stat().st_size > 10_000


def test_operations(options, page):
    options.results.mkdir()
    content = {"commit": "abc", "counts": {"ours": [[27, 90], [38.5, 180]]}}
    content["compiled"] = {"ours": [[22, 10], [27, 7]]}
    (options.results / "operations.json").write_text(json.dumps(content))
    text = docs.written(page, options)
    assert "| ours | 27.0 | 38.5 | 90.0 | 180.0 |" in text
    assert "| ours | 22 | 10 | 27 | 7 |" in text


def test_phases(options, page):
    options.results.mkdir()
    row = {"part": "encoder", "way": "forth", "products": 10.25, "graph": 16, "XLA": 9}
    content = {"day": "today", "commit": "abc", "gemm_peak_gflops": 499.6}
    (options.results / "phases.json").write_text(json.dumps({**content, "rows": [row]}))
    text = docs.written(page, options)
    assert "| encoder | forth | 10.2 | 16.0 | 9.0 |" in text
    assert "- GEMM peak of this run: 500 GFLOP/s" in text


def test_forms_of_an_export(options, page):
    options.results.mkdir()
    row = {"MB": 5.25, "load": 1.5, "p50": 9.96, "p99": 20.0, "BLEU": 33.4}
    content = {"day": "today", "commit": "abc", "rows": {"int8": row}}
    (options.results / "exported_forms.json").write_text(json.dumps(content))
    assert "| int8 | 5.2 | 1.50 | 10.0 | 20.0 | 33.4 |" in docs.written(page, options)


def test_shortlists(options, page):
    options.results.mkdir()
    rows = [
        {"search": "greedy", "size": None, "seconds": 2.0, "BLEU": 34.14},
        {"search": "greedy", "size": 500, "seconds": 1.5, "BLEU": 34.06},
    ]
    content = {"day": "today", "commit": "abc", "rows": rows}
    (options.results / "shortlisted.json").write_text(json.dumps(content))
    text = docs.written(page, options)
    assert "| greedy | all | 2.00 | 1.00 | 34.1 |" in text
    assert "| greedy | 500 | 1.50 | 0.75 | 34.1 |" in text
