"""Additive attention over whole sequences: fast beside readable."""

from benchmarks.registry import Benchmark, Entry, Tolerance

MAKE = "benchmarks.whole_sequence:attention"
FAST, READABLE = (
    Entry(MAKE, {"implementation": implementation})
    for implementation in ("fast", "reference")
)
SAME = (Tolerance("", 1e-5),)

ALL = [
    Benchmark(
        "whole_sequence",
        "Additive attention over whole sequences, forth and back.",
        {"fast": FAST, "auto": Entry(MAKE, {"implementation": "auto"})}
        | {"reference": READABLE},
        {
            "16 x 16": {"batch": 64, "length": 16, "units": 512},
            "200 x 200": {"batch": 8, "length": 200, "units": 256},
        },
        SAME,
        base="reference",
    ),
    Benchmark(
        "whole_sequence_memory",
        "Memory of additive attention, batch 4, units 256, forth and back.",
        {"fast": FAST},
        {"2000 x 2000": {"batch": 4, "length": 2000, "units": 256}},
        kind="memory",
    ),
]
