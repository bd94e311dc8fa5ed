"""Additive attention over whole sequences: fast beside readable."""

from benchmarks.registry import Benchmark, Entry, Tolerance

MAKE = "benchmarks.whole_sequence:attention"
FAST, READABLE = (
    Entry(MAKE, {"implementation": implementation})
    for implementation in ("fast", "reference")
)
SAME = (Tolerance("", 1e-5),)

ALL = [
    *(
        Benchmark(
            f"whole_sequence_{length}",
            f"Attention of {batch} x {length} queries to {length} positions, forward "
            f"and backward pass, units {units}.",
            {"fast": FAST, "reference": READABLE},
            {"reference": {"batch": batch, "length": length, "units": units}},
            SAME,
            base="reference",
        )
        for batch, length, units in ((64, 16, 512), (8, 200, 256))
    ),
    Benchmark(
        "whole_sequence_memory",
        "Memory of additive attention, 2000 x 2000, batch 4, units 256.",
        {"fast": FAST},
        {"reference": {"batch": 4, "length": 2000, "units": 256}},
        kind="memory",
    ),
]
