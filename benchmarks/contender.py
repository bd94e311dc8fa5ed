"""What a function that a benchmark names returns, in the process of the contender."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Contender(NamedTuple):
    """One way of doing the work, ready to be timed."""

    step: Callable[[], Any]  # one repetition, to be timed
    results: Callable[[], dict[str, Any]]  # what must agree; called once, first
    tokens: int = 0  # real ones in a repetition, where contenders differ in that
    flops: Callable[[], int] | None = None  # of the products of one training step
    figures: Callable[[], dict[str, float]] | None = None  # others; called last
    notes: tuple[str, ...] = ()


class Unavailable(Exception):
    """This machine lacks what the contender needs; the text says what, and a remedy."""
