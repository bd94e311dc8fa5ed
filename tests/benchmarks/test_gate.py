"""What the gate sees, and what it lets through."""

import numpy as np
import pytest

from benchmarks.gate import complaints
from benchmarks.registry import Tolerance

TOLERANCES = (Tolerance("loss", 1e-2), Tolerance("texts", 0.5))
LOSS = np.array([1.0, -100.0])


@pytest.mark.parametrize(
    "ours, theirs, complaint",
    [
        ({"loss": LOSS}, {"loss": LOSS + 0.9}, None),  # of the largest entry
        ({"loss": LOSS}, {"loss": LOSS + 1.1}, "rival: loss differs by 1.1e-02"),
        ({"loss": LOSS}, {"loss": LOSS * np.nan}, "rival: loss differs by nan"),
        ({"loss": LOSS}, {"loss": LOSS[None]}, "rival: loss differs by inf"),
        ({"loss": LOSS}, {}, "rival: only one of the two has loss"),
        ({}, {"loss": LOSS}, "rival: only one of the two has loss"),
        ({"texts": np.array(["a", "b"])}, {"texts": np.array(["a", "c"])}, None),
        (
            {"texts": np.array(["a", "b"])},
            {"texts": np.array(["b", "a"])},
            "rival: texts differs by 1.0e+00",
        ),
    ],
)
def test_complaints(ours, theirs, complaint):
    found = complaints("rival", ours, theirs, TOLERANCES)
    assert found == ([] if complaint is None else [complaint])


def test_a_result_without_a_tolerance():
    with pytest.raises(ValueError, match="No tolerance for the result 'score'"):
        complaints("rival", {"score": LOSS}, {"score": LOSS}, TOLERANCES)
