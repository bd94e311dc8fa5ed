"""The size of a computation: rows x source tokens x target tokens.

A decoder looks at every source token for every target token, and an answer with
alignments has a number for each of these pairs. So 130 kB of text can need an answer
of 64 million numbers. The bounds are known before a text is tokenized: a text has at
most as many tokens as bytes, plus an end token.
"""

import math
import unicodedata
from typing import NamedTuple


class LengthBounds(NamedTuple):
    """Bounds of the lengths of texts in the model, from the manifest of an export."""

    max_source: float = math.inf  # tokens of a text that the model reads
    times: float = 1.0  # a translation has at most times * source + plus tokens
    plus: float = 0
    at_most: float = math.inf

    @classmethod
    def of(cls, manifest):
        """Return the bounds that a manifest declares.

        Without `max_length`, a target is at most as long as its source.
        """
        bounds = cls(max_source=manifest.get("max_source") or math.inf)
        longest = manifest.get("max_length")
        if isinstance(longest, int):
            return bounds._replace(at_most=longest, times=math.inf)
        if isinstance(longest, dict) and longest.get("class") == "RelativeLength":
            at_most = longest.get("at_most") or math.inf
            return bounds._replace(
                times=longest["times"], plus=longest["plus"], at_most=at_most
            )
        return bounds

    def lengths(self, inputs):
        """Return bounds for the tokens of the longest source and the longest target.

        Args:
            inputs: dict of arrays. Its texts are a source, or a source and a target.
        """
        longest = [
            min(_longest(array), self.max_source) + 1
            for array in inputs.values()
            if array.dtype.kind == "O" and array.size
        ]
        if not longest:
            return 1, 1
        source, *targets = longest
        if targets:
            return source, max(targets)
        target = math.ceil(min(self.times * source + self.plus, self.at_most))
        return source, max(target, 1)


def cell_count(call):
    """Return rows x source x target of a `SignatureCall`."""
    return math.prod(padded_size((0, 0, 0), call))


def padded_size(size, call):
    """Return (rows, source, target) of a batch after one more call joins it.

    All rows of a batch are padded to the longest.
    """
    rows, source, target = size
    longest_source, longest_target = call.lengths
    return (
        rows + call.rows,
        max(source, longest_source),
        max(target, longest_target),
    )


def _longest(texts):
    """Return a bound for the tokens of the longest text."""
    return max(map(_max_tokens, texts.ravel()))


def _max_tokens(text):
    """Return the number of bytes before or after NFKC, whichever is greater.

    NFKC can replace one character by 18.
    """
    if text.isascii():
        return len(text)
    normalized = unicodedata.normalize("NFKC", text.decode("utf-8", "replace"))
    return max(len(text), len(normalized.encode()))
