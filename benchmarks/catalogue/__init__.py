"""All benchmarks: sizes, contenders, tolerances; nothing here computes."""

from benchmarks.catalogue import attention, real, searches, sweeps, training

_ALL = [*training.ALL, *searches.ALL, *sweeps.ALL, *attention.ALL, *real.ALL]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
