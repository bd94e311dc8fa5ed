"""Every contender that the catalogue names can be made, and gets what it takes."""

import importlib
import inspect

import pytest

from benchmarks import run
from benchmarks.catalogue import BENCHMARKS
from benchmarks.registry import smoked

ENTRIES = {
    f"{benchmark.name}-{name}": (benchmark, entry)
    for benchmark in BENCHMARKS.values()
    for name, entry in benchmark.contenders.items()
}


@pytest.mark.parametrize("case", ENTRIES)
def test_contenders_exist(case):
    benchmark, entry = ENTRIES[case]
    module, _, function = entry.make.partition(":")
    for library in ("torch", "joeynmt", "keras_hub"):
        if library in module:
            pytest.importorskip(library)
    function = getattr(importlib.import_module(module), function)
    for options in benchmark.points.values():
        inspect.signature(function).bind(**entry.options, **options)


def test_bases_and_axes():
    for benchmark in BENCHMARKS.values():
        assert benchmark.base is None or benchmark.base in benchmark.contenders
        assert (len(benchmark.points) > 1) == (benchmark.axis is not None)
        for options in smoked(benchmark).points.values():
            if "size" in options:  # no dimension is 1: it would be broadcast
                assert min(options["size"]) >= 2


QUICK = "whole_sequence_16"
SMOKE = [
    pytest.param(name, marks=() if name == QUICK else pytest.mark.slow)
    for name, benchmark in BENCHMARKS.items()
    if not benchmark.needs
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SMOKE)
def test_smoke(name, capsys):
    """They run, and the gate has nothing to say."""
    assert run.main(["--smoke", name]) == 0, capsys.readouterr().out
