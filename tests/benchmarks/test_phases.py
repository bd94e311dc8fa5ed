"""Where a training step goes: every part, both ways, both compilers."""

import pytest

from benchmarks import phases
from benchmarks.sizes import Size


@pytest.mark.system
def test_all_parts_of_a_small_model():
    size = Size(batch=2, source=3, target=4, embedding=4, units=4, vocabulary=8)
    rows, peak = phases.measured(size, rounds=1)
    assert [(row["part"], row["way"]) for row in rows] == [
        (part, way)
        for part in ("encoder", "decoder", "head and loss")
        for way in ("forward", "forward and backward")
    ] + [("Adam", "once")]
    assert peak > 0
    for forward, both in zip(rows[:-1:2], rows[1:-1:2], strict=True):
        assert 0 < 2 * forward["products"] < both["products"]  # for inputs, for weights
    assert rows[-1]["products"] == 0
    assert all(row["graph"] > 0 and row["XLA"] > 0 for row in rows)
    head, *lines = phases.table(rows)
    assert all(len(line) == len(head) for line in lines)
