"""`Contender`: what the function of a benchmark returns in its own process."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Contender(NamedTuple):
    """One way to do the work of a benchmark, ready to be timed."""

    step: Callable[[], Any]  # one repetition, to be timed
    results: Callable[[], dict[str, Any]]  # they must agree; called once, first
    tokens: int = 0  # tokens without padding in a repetition, if contenders differ
    flops: Callable[[], int] | None = None  # in matrix products of a training step
    figures: Callable[[], dict[str, float]] | None = None  # more; called last
    notes: tuple[str, ...] = ()


class Unavailable(Exception):
    """This machine lacks something that the contender needs; the message names it."""
