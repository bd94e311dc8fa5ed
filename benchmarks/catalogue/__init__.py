"""All benchmarks: sizes, contenders, tolerances; nothing here computes."""

from benchmarks.catalogue import (
    attention,
    real,
    searches,
    sweeps,
    training,
    transformer,
)

_ALL = [
    *training.ALL,
    *searches.ALL,
    *transformer.ALL,
    *sweeps.ALL,
    *attention.ALL,
    *real.ALL,
]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
