"""Sample translations of always the same sentences, to read during training."""


class SampleTranslations:
    """Sentences that are evenly spread over a validation set.

    Args:
        sources: list of strings.
        references: as many strings, or lists of several strings each.
        count: number of sentences to show.
    """

    head = ("source", "translation", "reference")

    def __init__(self, sources, references, count):
        count = min(count, len(sources))
        self.sources, self.references = sources, references
        self.positions = [i * len(sources) // count for i in range(count)]

    def rows(self, translations):
        """Return a tuple `(source, translation, reference)` for each sentence."""
        sides = (self.sources, translations, self.references)
        return [tuple(_text(side[i]) for side in sides) for i in self.positions]

    def lines(self, translations):
        """Yield the lines that show the samples in a terminal."""
        for row in self.rows(translations):
            for name, text in zip(self.head, row, strict=True):
                yield f"  {name:11}  {text}"


def _text(references):
    return references if isinstance(references, str) else " / ".join(references)
