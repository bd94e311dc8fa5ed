"""`Translation` and `Translations`: the results of a translator."""

import collections.abc
import dataclasses
from typing import NamedTuple

import numpy as np

from keras_seqattn.text.terminal_heat_map import heat_map
from keras_seqattn.translator import plot
from keras_seqattn.translator.displayable import Displayable


class Token(NamedTuple):
    """A token of the source, and its place in the text."""

    piece: str
    start: int  # first byte in the original text
    end: int  # the first byte after it


@dataclasses.dataclass(frozen=True, eq=False)
class Translation(Displayable):
    """A text, its translation, and the alignment between them.

    Args:
        source: the original text.
        text: its translation.
        score: log-probability under the model.
        ranking: the score with penalties, by which the search sorts.
        source_tokens: list of `Token`, the end token included.
        target_tokens: list of str, the end token included, if there is one.
        alignment: `[target, source]`, the mean over heads.
        alternatives: other `Translation`s of the same source, the next best first.
    """

    source: str
    text: str
    score: float
    ranking: float
    source_tokens: list
    target_tokens: list
    alignment: np.ndarray
    alternatives: tuple = ()

    def __str__(self):
        return self.text

    def heat_map(self, **options):
        """Return the alignment as a drawing for a terminal, see `text.heat_map`."""
        source = [token.piece for token in self.source_tokens]
        return heat_map(source, self.target_tokens, self.alignment, **options)

    def figure(self, font=None):
        """Return the alignment as a figure; Matplotlib must be installed.

        Args:
            font: name of a font, or a list of names: the first font that has a
                character draws it. None: the font of Matplotlib's settings.

        Returns:
            `matplotlib.figure.Figure`; `figure.savefig("x.pdf")` writes it.
        """
        source = [token.piece for token in self.source_tokens]
        return plot.figure(source, self.target_tokens, self.alignment, font)

    def _all(self):
        return [self]


class Translations(Displayable, collections.abc.Sequence):
    """`Translation`s, one for each text, in the order of the texts."""

    def __init__(self, translations):
        self._translations = list(translations)

    def __len__(self):
        return len(self._translations)

    def __getitem__(self, index):
        selected = self._translations[index]
        return Translations(selected) if isinstance(index, slice) else selected

    def __repr__(self):
        return f"Translations({self.texts!r})"

    def _all(self):
        return self._translations

    @property
    def texts(self):
        """The translations, a list of strings."""
        return [translation.text for translation in self]

    @property
    def scores(self):
        """The log-probabilities, a list of floats."""
        return [translation.score for translation in self]

    @property
    def alignments(self):
        """The alignments, a list of arrays `[target, source]`."""
        return [translation.alignment for translation in self]


def translations(sources, translated):
    """Return a list of `Translation`, from a `Translated` of the same texts."""
    arrays = type(translated)(*map(np.asarray, translated))
    return [_translation(source, arrays, row) for row, source in enumerate(sources)]


def _translation(source, arrays, row):
    size = arrays.source_lengths[row]
    tokens = [
        Token(piece.decode(), int(start), int(end))
        for piece, start, end in zip(
            arrays.source_tokens[row, :size],
            arrays.source_starts[row, :size],
            arrays.source_ends[row, :size],
            strict=True,
        )
    ]

    def hypothesis(n, alternatives=()):
        length = arrays.target_lengths[row, n]
        return Translation(
            source=source,
            text=arrays.texts[row, n].decode(),
            score=float(arrays.scores[row, n]),
            ranking=float(arrays.ranking[row, n]),
            source_tokens=tokens,
            target_tokens=[t.decode() for t in arrays.target_tokens[row, n, :length]],
            # A copy, because a view keeps the array of the whole batch in memory.
            alignment=arrays.alignments[row, n, :length, :size].copy(),
            alternatives=alternatives,
        )

    others = np.flatnonzero(arrays.target_lengths[row, 1:]) + 1
    return hypothesis(0, tuple(hypothesis(n) for n in others))
