"""What the texts of one side are like: their words, characters and lengths."""

import collections
import dataclasses


@dataclasses.dataclass(frozen=True)
class TextStatistics:
    """Counts of the texts of one side.

    Args:
        texts: number of texts.
        words: number of running words, between white space.
        distinct_words: number of different words.
        rare_words: number of words that occur once.
        characters: number of running characters.
        distinct_characters: number of different characters.

    Example:
        >>> TextStatistics.of(["a b", "b c"]).unseen
        0.5
    """

    texts: int
    words: int
    distinct_words: int
    rare_words: int
    characters: int
    distinct_characters: int

    @classmethod
    def of(cls, texts):
        """Count the words and characters of a list of strings."""
        words, characters = collections.Counter(), collections.Counter()
        for text in texts:
            words.update(text.split())
            characters.update(text)
        return cls(
            len(texts),
            words.total(),
            len(words),
            sum(count == 1 for count in words.values()),
            characters.total(),
            len(characters),
        )

    @property
    def unseen(self):
        """The share of words of a new text that these texts do not have, estimated.

        It is the share of words that occur once (Good 1953).
        """
        return self.rare_words / max(1, self.words)

    @property
    def words_per_text(self):
        return self.words / max(1, self.texts)

    @property
    def characters_per_text(self):
        return self.characters / max(1, self.texts)
