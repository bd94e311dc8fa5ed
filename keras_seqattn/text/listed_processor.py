"""Base of the processors whose vocabulary is a list in a file."""

import re

import tensorflow as tf

from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.processor import UNKNOWN, TextProcessor


class ListedProcessor(TextProcessor):
    """A processor that is made from its vocabulary, one token in a line of the file.

    In the file a backslash is written `\\\\` and a newline `\\n`.
    """

    unknown = UNKNOWN  # how decode writes an unknown token

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        spellings = list(self.vocabulary)
        spellings[self.tokens.unknown] = self.unknown
        self._spellings = tf.constant(spellings)

    def _spelled(self, ids):
        """How `decode` writes each token."""
        return tf.gather(self._spellings, ids)

    def _to_bytes(self):
        lines = (p.replace("\\", "\\\\").replace("\n", "\\n") for p in self.vocabulary)
        return "".join(f"{line}\n" for line in lines).encode()

    @classmethod
    def _from_bytes(cls, data, config):
        lines = data.decode().removesuffix("\n").split("\n")
        escaped = re.compile(r"\\(.)")
        pieces = (
            escaped.sub(lambda m: "\n" if m[1] == "n" else m[1], line) for line in lines
        )
        return cls(list(pieces), **config)


def table(known, tokens):
    """Ids of what is known: from 4 on; the last one, and all others, are unknown."""
    ids = tf.concat([tf.range(len(known) - 1) + len(tokens), [tokens.unknown]], axis=0)
    rows = tf.lookup.KeyValueTensorInitializer(tf.constant(known), ids)
    return tf.lookup.StaticHashTable(rows, default_value=tokens.unknown)


def most_frequent(counts, size, minimum_count=1):
    """A vocabulary: the special tokens, then the others by falling count.

    Args:
        counts: `Counter` of the tokens.
        size: the most that the vocabulary may have, special ones included, or None.
        minimum_count: tokens that are rarer are left out.
    """
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    frequent = [token for token, count in ranked if count >= minimum_count]
    known = [token for token in frequent if token not in SPECIAL]
    return [*SPECIAL, *known][:size]
