"""A few translations to look at, always of the same sentences."""


class Samples:
    """Evenly spread over a set of sentences.

    Args:
        sources: list of strings.
        references: as many strings, or lists of several strings each.
        count: how many are shown.
    """

    head = ("source", "translation", "reference")

    def __init__(self, sources, references, count):
        count = min(count, len(sources))
        self.sources, self.references = sources, references
        self.positions = [i * len(sources) // count for i in range(count)]

    def rows(self, translations):
        """`(source, translation, reference)` of each."""
        sides = (self.sources, translations, self.references)
        return [tuple(_text(side[i]) for side in sides) for i in self.positions]

    def lines(self, translations):
        """The same for a terminal."""
        for row in self.rows(translations):
            for name, text in zip(self.head, row, strict=True):
                yield f"  {name:11}  {text}"


def _text(references):
    return references if isinstance(references, str) else " / ".join(references)
