"""The values that travel between the rows of the library: immutable named tuples.

Nobody owns memory, state or masks: they come in as arguments and go out as results.
"""

from typing import Any, NamedTuple


class Memory(NamedTuple):
    """A source sentence, prepared once and attended to at every target step."""

    values: Any  # [batch, source, memory_depth], zero where nothing is real
    keys: Any  # [batch, source, units], the projected values
    mask: Any  # [batch, source], True = real; None: everything is real


class Encoded(NamedTuple):
    """What an encoder returns."""

    values: Any  # [batch, source, memory_depth], zero where nothing is real
    mask: Any  # [batch, source], always a tensor
    state: Any  # list with one entry per layer, each in the structure of its cell


class Attended(NamedTuple):
    """What an attention mechanism returns for a query."""

    context: Any  # [batch, ..., memory_depth]
    alignment: Any  # [batch, ..., source]; with heads [batch, ..., heads, source]
    state: Any  # nest, batch first; () for mechanisms without a past


class Step(NamedTuple):
    """What a decoder returns for one target position."""

    output: Any  # [batch, ..., output_depth]
    alignment: Any  # [batch, ..., source]; with heads [batch, ..., heads, source]
    state: Any  # nest, batch first
