"""Layers that are made later: `of(ks.LuongAttention, "dot")(dtype="float64")`."""

from pathlib import Path

import numpy as np

# Holes, padding behind, and an empty row.
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]]
MASK = np.array(MASK, dtype=bool)
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}


def of(layer, *args, **options):
    return lambda **k: layer(*args, **options, **k)


def around(layer, inner, **options):
    """A layer that is composed of another one."""
    return lambda **k: layer(inner(**k), **options, **k)


def check_rows(table, file, public, tested):
    """Check that a table of oracles has a row for every public class, and no others."""
    differ = sorted(kind.__name__ for kind in public ^ tested)
    where = f"{table} in tests/oracles/{Path(file).name}"
    assert not differ, f"{where} and the public classes differ in {', '.join(differ)}"
