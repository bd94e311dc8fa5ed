"""Converts strings to code points and back with the operations that LiteRT has.

LiteRT itself has almost no operations for strings. tensorflow-text adds a few: one
reads UTF-8 as bits, and a detokenizer for word pieces can join any strings. Everything
between is arithmetic.
"""

import numpy as np
import tensorflow as tf

from keras_seqattn.text.normalization import SPACE
from keras_seqattn.text.optional_packages import tensorflow_text

OWNER = "export_litert"
_BITS = 24  # of a code point
_PAGE = 256
_REPLACEMENT = 0xFFFD
_INSIDE, _NEVER = b"\xff\xfe", b"\xff\xfd"  # not in UTF-8, so in no text


def code_points(texts, count):
    """Return code points, int32 `[batch, count]` with zeros as padding, and lengths.

    NUL at the end of a text is ignored.
    """
    bits = tensorflow_text(OWNER).utf8_binarize(texts, count, _BITS)
    bits = tf.reshape(tf.cast(bits, tf.int32), [texts.shape[0], count, _BITS])
    codes = tf.reduce_sum(bits * 2 ** np.arange(_BITS), axis=2)
    places = tf.where(codes > 0, tf.range(1, count + 1), 0)
    return codes, tf.reduce_max(places, axis=1)


class CodeTable:
    """A table from code points to numbers, in pages, because most pages are equal.

    Args:
        numbers: dict from code points to numbers.
        default: number of all other code points.
    """

    def __init__(self, numbers, default):
        all_numbers = np.full(0x110000, default, "int32")
        all_numbers[list(numbers)] = list(numbers.values())
        pages, index = np.unique(
            all_numbers.reshape(-1, _PAGE), axis=0, return_inverse=True
        )
        self._pages, self._index = pages.reshape(-1), index.astype("int32").reshape(-1)

    def __call__(self, codes):
        page = tf.gather(self._index, codes // _PAGE)
        return tf.gather(self._pages, page * _PAGE + codes % _PAGE)


def changed_characters(text):
    """Return a dict from the code points that the processor changes to the new ones."""
    changed = {0: _REPLACEMENT}  # the detokenizer does not join zero bytes
    changed |= {ord(c): SPACE for c in text.white_space}
    if text.lowercase:
        capitals = [c for c in map(chr, range(0x110000)) if c.lower() != c]
        small = (letter.decode() for letter in text.normalize(capitals).numpy())
        changed |= {ord(c): ord(s) for c, s in zip(capitals, small, strict=True)}
    return changed


def character_normalizer(text):
    """Return a function that changes code points as the processor does."""
    table = CodeTable(
        {old: new - old for old, new in changed_characters(text).items()}, 0
    )
    return lambda codes: codes + table(codes)


def joiner(units):
    """Return a function that joins units, from their numbers, to strings.

    Its arguments are the numbers `[count]`, whether a string begins at a unit
    `[count]`, and row splits, int32 `[strings + 1]`.

    Args:
        units: list of different bytes objects that are not empty.
    """
    # The detokenizer joins pieces with the prefix _INSIDE to the piece before.
    vocabulary = [*units, *(_INSIDE + unit for unit in units), _NEVER]
    tokenizer = tensorflow_text(OWNER).FastWordpieceTokenizer(
        vocabulary,
        suffix_indicator=_INSIDE,
        unknown_token=_NEVER,
        no_pretokenization=True,
        support_detokenization=True,
    )

    def join(numbers, first, splits):
        pieces = numbers + tf.where(first, 0, len(units))
        splits = tf.cast(splits, tf.int64)
        rows = tf.RaggedTensor.from_row_splits(pieces, splits, validate=False)
        return tokenizer.detokenize(rows)

    return join


def utf8_encoder():
    """Return a function like that of `joiner`, from code points to UTF-8 strings."""
    join = joiner([bytes([x]) for x in range(1, 256)])

    def encode(codes, first, splits):
        units, sizes = _utf8(codes)
        at = tf.range(4)
        real = tf.where(tf.reshape(at < sizes[:, None], [-1]))[:, 0]
        first = tf.reshape(first[:, None] & (at == 0), [-1])
        ends = tf.concat([[0], tf.cumsum(sizes)], axis=0)
        units = tf.gather(tf.reshape(units, [-1]), real) - 1
        return join(units, tf.gather(first, real), tf.gather(ends, splits))

    return encode


def _utf8(codes):
    """Return bytes, int32 `[count, 4]`, and how many bytes at the start are real."""
    sizes = 1 + sum(tf.cast(codes >= least, tf.int32) for least in (0x80, 0x800, 2**16))
    behind = tf.maximum(sizes[:, None] - 1 - tf.range(4), 0)
    shifted = codes[:, None] // tf.gather([1, 2**6, 2**12, 2**18], behind)
    leads = tf.gather([0, 0xC0, 0xE0, 0xF0], sizes - 1)
    units = tf.where(tf.range(4) == 0, shifted + leads[:, None], 0x80 + shifted % 64)
    return units, sizes
