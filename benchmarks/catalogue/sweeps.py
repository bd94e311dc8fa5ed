"""The same work at several sizes; each benchmark becomes a plot.

A point takes about a minute on two cores, all of them half an hour.
"""

from benchmarks.catalogue.training import EAGER, ENTRIES, OURS, RNN, SAME_MODEL
from benchmarks.registry import Benchmark, Entry
from benchmarks.sizes import REFERENCE, Size

STEPS = 2  # in one repetition
BRIEF = {"repetitions": 5, "seconds": 40.0}
CONTENDERS = {name: ENTRIES[name] for name in (OURS, RNN, EAGER)}


def _throughput(name, axis, values, sized):
    """`sized(value)` is a `Size`."""
    points = {str(x): {"size": sized(x), "steps": STEPS} for x in values}
    what = "Target tokens per second in training, sizes as in the reference except:"
    fields = {"axis": axis, "base": RNN, "steps": STEPS, **BRIEF}
    return Benchmark(name, what, CONTENDERS, points, SAME_MODEL, **fields)


def _long(batch, units, vocabulary):
    def sized(length):
        return Size(batch, length, length, units, units, vocabulary)

    return sized


_THOUSAND = REFERENCE._replace(batch=8, source=1000, target=1000)
_MEMORY, _COST = _long(8, 512, 2000), _long(16, 64, 100)

ALL = [
    _throughput(
        "length",
        "source and target length",
        (8, 16, 32, 64),
        lambda x: REFERENCE._replace(source=x, target=x),
    ),
    _throughput(
        "width",
        "units",
        (128, 256, 512, 1024),
        lambda x: REFERENCE._replace(units=x, embedding=x // 2),
    ),
    _throughput(
        "batch",
        "sentences in a batch",
        (8, 16, 32, 64, 128),
        lambda x: REFERENCE._replace(batch=x),
    ),
    _throughput(
        "vocabulary",
        "words of the vocabulary",
        (2000, 8000, 32000),
        lambda x: REFERENCE._replace(vocabulary=x),
    ),
    Benchmark(
        "memory_length",
        "Memory of a training step, batch 8, units 512, vocabulary 2000:",
        CONTENDERS,
        {str(x): {"size": _MEMORY(x), "steps": 1} for x in (50, 100, 200, 400)},
        SAME_MODEL,
        kind="memory",
        axis="source and target length",
    ),
    Benchmark(
        "memory_1000",
        "Memory of a training step, batch 8, source and target 1000, units 512.",
        {
            'loss="auto"': ENTRIES[OURS]._replace(options={"fused": True}),
            # After a thousand steps, rounding errors are too large for a comparison.
            "loss of logits": ENTRIES[OURS]._replace(compared=False),
        },
        {"reference": {"size": _THOUSAND, "steps": 1}},
        kind="memory",
    ),
    Benchmark(
        "attention_cost",
        "A training step with and without attention, batch 16, units 64:",
        {
            "with attention": Entry(
                "benchmarks.attention_cost:training", {"attention": True}
            ),
            "without": Entry(
                "benchmarks.attention_cost:training",
                {"attention": False},
                compared=False,
            ),
        },
        {str(x): {"size": _COST(x)} for x in (50, 100, 200, 400, 800)},
        axis="source and target length",
        **BRIEF,
    ),
]
