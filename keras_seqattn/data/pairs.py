"""Pairs of strings: sources and their targets."""

import dataclasses
from collections.abc import Iterable
from os import PathLike

from keras_seqattn.data.encoded_pairs import EncodedPairs
from keras_seqattn.data.filter_report import Report
from keras_seqattn.errors import abbreviated, four_part_error


@dataclasses.dataclass(frozen=True, repr=False)
class Pairs:
    """Sources and their targets, in memory, in order.

    It is a sequence of pairs: `len(pairs)`, `pairs[0]`, `pairs[:100]`, `pairs + more`,
    `for source, target in pairs`.

    Wherever the library takes `Pairs`, it also takes a list of pairs of strings, a
    tuple of two lists, or an object with lists `source` and `target`.

    Args:
        source: list of strings. Without `target`: a list of pairs `(source, target)`.
        target: list of strings of the same length; for evaluation, each may be a list
            of several references.
        report: `Report` of the rows that `read_pairs` has left out, or None.

    Example:
        >>> pairs = Pairs(["ein Hund", "eine Katze"], ["a dog", "a cat"])
        >>> pairs
        Pairs(2 pairs: 'ein Hund' -> 'a dog', ...)
        >>> pairs[1]
        ('eine Katze', 'a cat')
        >>> pairs[:1].target
        ['a dog']
        >>> pairs == Pairs([("ein Hund", "a dog"), ("eine Katze", "a cat")])
        True
    """

    source: list[str]
    target: list[str] | None = None
    report: Report | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        sides = self.source, self.target
        if self.target is None:
            sides = _sides("Pairs", self.source)
        for name, side in zip(("source", "target"), sides, strict=True):
            object.__setattr__(self, name, _listed(name, side))
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
        other = as_pairs("Pairs", other)
        return Pairs(self.source + other.source, self.target + other.target)

    def __repr__(self):  # a corpus does not fit on the screen
        first = f": {self.source[0]!r} -> {self.target[0]!r}" if self.source else ""
        rest = ", ..." if len(self) > 1 else ""
        return f"Pairs({len(self)} pair{'s' * (len(self) != 1)}{first}{rest})"


def as_pairs(owner, pairs):
    """Return `Pairs` of whatever holds pairs of texts.

    Args:
        owner: name of the caller, for errors.
        pairs: `Pairs`; another object with lists `source` and `target`; an iterable of
            pairs `(source, target)`; or a tuple of two lists, sources and targets.
    """
    return pairs if isinstance(pairs, Pairs) else Pairs(*_sides(owner, pairs))


def _sides(owner, pairs):
    """Return the sources and the targets of whatever holds pairs of texts."""
    if isinstance(pairs, EncodedPairs):
        raise _not_pairs(
            owner, pairs, "Pass the texts, or pass ids to data.batches yourself"
        )
    if hasattr(pairs, "source") and hasattr(pairs, "target"):
        return pairs.source, pairs.target
    if isinstance(pairs, tuple) and len(pairs) == 2 and all(map(_is_side, pairs)):
        return pairs
    if isinstance(pairs, (str, bytes, PathLike)):
        raise _not_pairs(
            owner,
            pairs,
            "Pass a list such as [('one', 'eins')]; a file is read by data.read_pairs",
        )
    if isinstance(getattr(pairs, "train", None), Pairs):  # of a task or a corpus
        raise _not_pairs(owner, type(pairs), "Pass its pairs, e.g. task.train")
    if isinstance(pairs, dict) or not isinstance(pairs, Iterable):
        raise _not_pairs(owner, pairs, "Pass data.Pairs(sources, targets)")
    pairs = list(pairs)
    for number, pair in enumerate(pairs):
        if isinstance(pair, (str, bytes)) or not _is_of_two(pair):
            received = f"{abbreviated(pair)} at position {number}"
            remedy = (
                "Pass such a list, or two lists as data.Pairs(sources, targets)"
                if not isinstance(pair, Pairs)
                else "Unpack what a filter returns: pairs, report = filter_pairs(...)"
            )
            raise four_part_error(
                f"{owner} got something that is not a pair",
                "a list of pairs (source, target)",
                received,
                remedy,
            )
    return [source for source, _ in pairs], [target for _, target in pairs]


def _not_pairs(owner, received, remedy):
    return four_part_error(
        f"{owner} got no pairs",
        "Pairs, or a list of pairs (source, target)",
        abbreviated(received),
        remedy,
    )


def _is_side(texts):
    """Whether it may be one side of a tuple of two; tuples are pairs."""
    return isinstance(texts, Iterable) and not isinstance(texts, (str, bytes, tuple))


def _is_of_two(pair):
    return hasattr(pair, "__len__") and len(pair) == 2


def _listed(name, strings):
    """Return a list of strings; a single string is an error, though it is iterable."""
    if isinstance(strings, (str, bytes)):
        raise four_part_error(
            f"Pairs got a single string as its {name}",
            "a list of strings",
            abbreviated(strings),
            "Put the string into a list, or read a file with read_pairs",
        )
    if not isinstance(strings, Iterable):
        raise four_part_error(
            f"Pairs got an unusable {name}",
            "a list of strings",
            abbreviated(strings),
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
            f"{abbreviated(strings[at])} at position {at}",
            "Decode bytes, and leave out pairs without a text on one side",
        )
    return strings


def _is_text(item):
    return isinstance(item, str)


def _is_reference(item):
    if isinstance(item, (list, tuple)):
        return bool(item) and all(map(_is_text, item))
    return isinstance(item, str)
