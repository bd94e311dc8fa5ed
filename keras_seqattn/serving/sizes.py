"""How much a request makes the model compute: rows x source x target.

A decoder looks at every source token for every target token, and an answer with
alignments has a number for each of these pairs. So 130 kB of text can become an answer
of 64 million numbers. Lengths are known before tokens are: a text has at most as many
tokens as it has bytes, and an end token.
"""

import math
import unicodedata
from typing import NamedTuple


class Bounds(NamedTuple):
    """How long texts can get in the model, as the manifest of an export says."""

    max_source: float = math.inf  # tokens that are read of a text
    times: float = 1.0  # a translation has at most times * source + plus tokens
    plus: float = 0
    at_most: float = math.inf

    @classmethod
    def of(cls, manifest):
        """Those of a manifest; where it says nothing, a target is like its source."""
        found = cls(max_source=manifest.get("max_source") or math.inf)
        longest = manifest.get("max_length")
        if isinstance(longest, int):
            return found._replace(at_most=longest, times=math.inf)
        if isinstance(longest, dict) and longest.get("class") == "RelativeLength":
            at_most = longest.get("at_most") or math.inf
            return found._replace(
                times=longest["times"], plus=longest["plus"], at_most=at_most
            )
        return found

    def lengths(self, inputs):
        """Tokens of the longest source and of the longest target, at most.

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


def cells(question):
    """Rows x source x target of a question."""
    return math.prod(padded((0, 0, 0), question))


def padded(size, question):
    """Rows, source and target of a batch that gets a question more.

    All rows of a batch are padded to the longest.
    """
    rows, source, target = size
    longest_source, longest_target = question.lengths
    return (
        rows + question.rows,
        max(source, longest_source),
        max(target, longest_target),
    )


def _longest(texts):
    """Tokens of the longest text, at most."""
    return max(map(_tokens, texts.ravel()))


def _tokens(text):
    """Bytes, also after a normalisation: NFKC writes up to 18 letters for one."""
    if text.isascii():
        return len(text)
    plain = unicodedata.normalize("NFKC", text.decode("utf-8", "replace"))
    return max(len(text), len(plain.encode()))
