"""The benchmarks."""

from benchmarks.catalogues import real, searches, sweeps, training

_ALL = [*training.ALL, *searches.ALL, *sweeps.ALL, *real.ALL]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
