"""Pairs of strings: sources and their targets."""

import dataclasses
from collections.abc import Iterable

from keras_seqattn.errors import four_part_error


@dataclasses.dataclass(frozen=True, repr=False)
class Pairs:
    """Sources and their targets, in memory, in order.

    It is a sequence of pairs: `len(pairs)`, `pairs[0]`, `pairs[:100]`, `pairs + more`,
    `for source, target in pairs`.

    Args:
        source: list of strings.
        target: list of strings of the same length; for evaluation, each may be a list
            of several references.
        dropped: `{reason: count}` of the pairs that were dropped by `read_pairs`.

    Example:
        >>> pairs = Pairs(["ein Hund", "eine Katze"], ["a dog", "a cat"])
        >>> pairs
        Pairs(2 pairs: 'ein Hund' -> 'a dog', ...)
        >>> pairs[1]
        ('eine Katze', 'a cat')
        >>> pairs[:1].target
        ['a dog']
    """

    source: list[str]
    target: list[str]
    dropped: dict[str, int] = dataclasses.field(default_factory=dict, compare=False)

    def __post_init__(self):
        for name in ("source", "target"):
            object.__setattr__(self, name, _listed(name, getattr(self, name)))
        if len(self.source) != len(self.target):
            raise four_part_error(
                "Pairs got sides of different length",
                "as many targets as sources",
                f"{len(self.source)} sources and {len(self.target)} targets",
                "Check both lists: an item may be missing",
            )

    def select(self, indices):
        """Return the pairs at some positions, in the order of the positions."""
        return Pairs(
            [self.source[i] for i in indices], [self.target[i] for i in indices]
        )

    def __len__(self):
        return len(self.source)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Pairs(self.source[index], self.target[index])
        return self.source[index], self.target[index]

    def __iter__(self):
        return zip(self.source, self.target, strict=True)

    def __add__(self, other):
        return Pairs(self.source + other.source, self.target + other.target)

    def __repr__(self):  # a corpus does not fit on the screen
        first = f": {self.source[0]!r} -> {self.target[0]!r}" if self.source else ""
        rest = ", ..." if len(self) > 1 else ""
        return f"Pairs({len(self)} pair{'s' * (len(self) != 1)}{first}{rest})"


def _listed(name, strings):
    """Return a list of strings; a single string is an error, though it is iterable."""
    if isinstance(strings, (str, bytes)):
        raise four_part_error(
            f"Pairs got a single string as its {name}",
            "a list of strings",
            f"{strings[:40]!r}",
            "Put the string into a list, or read a file with read_pairs",
        )
    if not isinstance(strings, Iterable):
        raise four_part_error(
            f"Pairs got an unusable {name}",
            "a list of strings",
            repr(strings),
            "Pass as many strings as the other side has",
        )
    strings = list(strings)
    usable = _is_text if name == "source" else _is_reference
    if not all(map(usable, strings)):
        at = list(map(usable, strings)).index(False)
        several = "" if name == "source" else " or lists of several references"
        raise four_part_error(
            f"Pairs got something in its {name} that is not a string",
            f"strings{several}",
            f"{strings[at]!r} at position {at}",
            "Decode bytes, and leave out pairs without a text on one side",
        )
    return strings


def _is_text(item):
    return isinstance(item, str)


def _is_reference(item):
    if isinstance(item, (list, tuple)):
        return bool(item) and all(map(_is_text, item))
    return isinstance(item, str)
