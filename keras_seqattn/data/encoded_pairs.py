"""Encoded pairs: the ids of both sides, stored in four flat arrays."""

import dataclasses
from typing import NamedTuple

import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.types import SpecialTokens


class Ids(NamedTuple):
    """Many sentences as one array: sentence n is `values[splits[n]:splits[n + 1]]`.

    A list of arrays would need several times the memory, and a loop for each batch.
    """

    values: np.ndarray  # [tokens], int32
    splits: np.ndarray  # [sentences + 1], int64

    @classmethod
    def of(cls, sentences):
        """Make `Ids` from a list of lists of ids."""
        for number, sentence in enumerate(sentences):
            if isinstance(sentence, (str, bytes)):
                raise four_part_error(
                    "EncodedPairs got texts instead of ids",
                    "a list of lists of ids",
                    f"{abbreviated(sentence)} at position {number}",
                    "Call data.encode(pairs, source_text, target_text)",
                )
        splits = np.cumsum([0, *map(len, sentences)])
        values = [i for sentence in sentences for i in sentence]
        return cls(np.array(values, np.int32), splits.astype(np.int64))

    @property
    def lengths(self):
        """The length of each sentence `[sentences]`, start and end not counted."""
        return np.diff(self.splits)

    def select(self, indices):
        """Return the sentences at some positions, in the order of the positions."""
        lengths = self.lengths[indices]
        splits = np.concatenate([[0], np.cumsum(lengths)])
        shifts = np.repeat(self.splits[indices] - splits[:-1], lengths)
        return Ids(self.values[np.arange(splits[-1]) + shifts], splits)

    def padded(self, indices, length, pad):
        """Return sentences at some positions `[batch, length]`, and their lengths."""
        starts, lengths = self.splits[indices], self.lengths[indices]
        column = np.arange(length)
        real = column < lengths[:, None]
        batch = np.full((len(indices), length), pad, np.int32)
        batch[real] = self.values[(starts[:, None] + column)[real]]
        return batch, lengths


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class EncodedPairs:
    """The ids of sources and targets, without start and end; `encode` returns them.

    Args:
        source: `Ids`; `encoded.source.lengths` are the numbers of tokens.
        target: `Ids`.
        source_tokens: the ids of padding, start and end on the source side.
        target_tokens: the same on the target side.

    Example:
        >>> encoded = EncodedPairs.of([[5, 6], [7]], [[5], [6, 7]])
        >>> len(encoded), encoded.source.lengths.tolist()
        (2, [2, 1])
        >>> encoded.select([1]).target.values.tolist()
        [6, 7]
    """

    source: Ids
    target: Ids
    source_tokens: SpecialTokens = SpecialTokens()
    target_tokens: SpecialTokens = SpecialTokens()

    def __post_init__(self):
        sizes = len(self.source.splits) - 1, len(self.target.splits) - 1
        if sizes[0] != sizes[1]:
            raise four_part_error(
                "EncodedPairs got sides of different length",
                "as many targets as sources",
                f"{sizes[0]} sources and {sizes[1]} targets",
                "Encode both sides of the same Pairs",
            )

    @classmethod
    def of(cls, source, target):
        """Make `EncodedPairs` of two lists of lists of ids, with default tokens."""
        return cls(Ids.of(source), Ids.of(target))

    def select(self, indices):
        """Return the pairs at some positions, in the order of the positions."""
        sides = self.source.select(indices), self.target.select(indices)
        return EncodedPairs(*sides, self.source_tokens, self.target_tokens)

    def __len__(self):
        return len(self.source.splits) - 1

    def __repr__(self):
        sides = len(self.source.values), len(self.target.values)
        return f"EncodedPairs({len(self)} pairs: {sides[0]} -> {sides[1]} tokens)"


def check_encoded(owner, encoded):
    """Check that pairs are `EncodedPairs`; the remedy fits what was passed."""
    if isinstance(encoded, EncodedPairs):
        return
    remedy = "Call data.encode(pairs, source_text, target_text) first"
    if isinstance(encoded, tuple) and any(isinstance(x, EncodedPairs) for x in encoded):
        remedy = "Unpack what a filter returns: encoded, report = filter_lengths(...)"
    raise four_part_error(
        f"{owner} got pairs that are not encoded",
        "EncodedPairs",
        abbreviated(encoded),
        remedy,
    )
