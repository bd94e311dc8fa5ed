"""What a translator returns."""

import collections.abc
import dataclasses
from typing import NamedTuple

import numpy as np

from keras_seqattn.text.terminal_heat_map import heat_map
from keras_seqattn.translator import plot
from keras_seqattn.translator.shown import Shown


class Token(NamedTuple):
    """A token of the source, and where it stands in the text."""

    piece: str
    start: int  # byte of the text as it was given
    end: int  # the first byte after it


@dataclasses.dataclass(frozen=True, eq=False)
class Translation(Shown):
    """A text, its translation, and what was looked at.

    Args:
        source: the text as it was given.
        text: its translation.
        score: log-probability under the model.
        ranking: the penalised value by which the search sorted.
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
        """The alignment drawn for a terminal: see `heat_map` for the options."""
        source = [token.piece for token in self.source_tokens]
        return heat_map(source, self.target_tokens, self.alignment, **options)

    def figure(self, font=None):
        """The alignment as a figure of Matplotlib, which has to be installed.

        Args:
            font: name of a font, or a list of names of which each draws what those
                before it cannot; None: that of Matplotlib's settings.

        Returns:
            `matplotlib.figure.Figure`; `figure.savefig("x.pdf")` writes it.
        """
        source = [token.piece for token in self.source_tokens]
        return plot.figure(source, self.target_tokens, self.alignment, font)

    def _all(self):
        return [self]


class Translations(Shown, collections.abc.Sequence):
    """`Translation`s, one for each text, in the order of the texts."""

    def __init__(self, translations):
        self._translations = list(translations)

    def __len__(self):
        return len(self._translations)

    def __getitem__(self, index):
        found = self._translations[index]
        return Translations(found) if isinstance(index, slice) else found

    def __repr__(self):
        return f"Translations({self.texts!r})"

    def _all(self):
        return self._translations

    @property
    def texts(self):
        """List of the translations as strings."""
        return [translation.text for translation in self]

    @property
    def scores(self):
        """List of their log-probabilities."""
        return [translation.score for translation in self]

    @property
    def alignments(self):
        """List of their alignments, arrays `[target, source]`."""
        return [translation.alignment for translation in self]


def translations(sources, translated):
    """A list of `Translation`, from a `Translated` of the same texts."""
    arrays = translated._replace(**{k: np.asarray(v) for k, v in _items(translated)})
    return [_translation(source, arrays, row) for row, source in enumerate(sources)]


def _items(translated):
    return translated._asdict().items()


def _translation(source, all_of, row):
    size = all_of.source_lengths[row]
    tokens = [
        Token(piece.decode(), int(start), int(end))
        for piece, start, end in zip(
            all_of.source_tokens[row, :size],
            all_of.source_starts[row, :size],
            all_of.source_ends[row, :size],
            strict=True,
        )
    ]

    def hypothesis(n, alternatives=()):
        length = all_of.target_lengths[row, n]
        return Translation(
            source=source,
            text=all_of.texts[row, n].decode(),
            score=float(all_of.scores[row, n]),
            ranking=float(all_of.ranking[row, n]),
            source_tokens=tokens,
            target_tokens=[t.decode() for t in all_of.target_tokens[row, n, :length]],
            # A copy: a view would keep that of the whole batch.
            alignment=all_of.alignments[row, n, :length, :size].copy(),
            alternatives=alternatives,
        )

    found = np.flatnonzero(all_of.target_lengths[row, 1:]) + 1
    return hypothesis(0, tuple(hypothesis(n) for n in found))
