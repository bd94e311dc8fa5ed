"""The base of the processors whose vocabulary is a list of tokens in a file."""

import re
import warnings

import tensorflow as tf

from keras_seqattn.errors import four_parts
from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.processor import UNKNOWN, TextProcessor


class ListedProcessor(TextProcessor):
    """Base of the processors that are built from a list of tokens.

    The file has one token in each line. It writes a backslash as `\\\\` and a newline
    as `\\n`.
    """

    first_pieces = SPECIAL
    unknown = UNKNOWN  # `decode` writes this for an unknown token

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        spellings = list(self.vocabulary)
        spellings[self.tokens.unknown] = self.unknown
        self._spellings = tf.constant(spellings)  # `decode` writes these

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


def id_table(known, tokens):
    """Return a lookup table from tokens to ids, which start after the special ones.

    The last item, and all items that are not in the table, get the unknown id.
    """
    ids = tf.concat([tf.range(len(known) - 1) + len(tokens), [tokens.unknown]], axis=0)
    rows = tf.lookup.KeyValueTensorInitializer(tf.constant(known), ids)
    return tf.lookup.StaticHashTable(rows, default_value=tokens.unknown)


def most_frequent(owner, counts, size, minimum_count=1):
    """Return a vocabulary: the special tokens, then the most frequent tokens.

    Args:
        owner: name of the class, for a warning.
        counts: `Counter` of the tokens.
        size: the largest size of the vocabulary, special tokens included, or None.
        minimum_count: tokens that occur less often are left out.
    """
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    frequent = [token for token, count in ranked if count >= minimum_count]
    known = [token for token in frequent if token not in SPECIAL]
    vocabulary = [*SPECIAL, *known][:size]
    _warn_if_small(owner, counts, vocabulary, size, minimum_count)
    return vocabulary


def _warn_if_small(owner, counts, vocabulary, size, minimum_count):
    """Warn if most of the text would be unknown."""
    total, kept = counts.total(), sum(counts[token] for token in vocabulary)
    if 2 * kept < total:
        warnings.warn(
            four_parts(
                f"{owner}.learn got a text of which most is unknown",
                "a vocabulary that has at least half of the tokens of the text",
                f"vocabulary_size={size} and minimum_count={minimum_count}, so that "
                f"{100 - 100 * kept / total:.0f} % of the tokens are unknown",
                "Pass a larger vocabulary_size, or None, and a smaller minimum_count",
            ),
            stacklevel=4,
        )
