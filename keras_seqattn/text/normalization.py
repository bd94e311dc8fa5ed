"""Normalisation that maps every character to byte offsets in the original text.

Every step works on characters with their byte offsets in the original text. So the
offsets stay exact, even if several steps change the length of the text.
"""

import functools
import sys
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_seqattn.text.optional_packages import tensorflow_text

SPACE = ord(" ")
END = "\0"  # a character that never changes the one before it
WHITE_SPACE = "".join(chr(c) for c in range(0x3001) if chr(c).isspace())
FORMS = {"nfc": "NFC", "nfkc": "NFKC", "nfkc_casefold": "NFC"}


class CodePoints(NamedTuple):
    """The code points of several texts, with their bytes in the original texts."""

    codes: Any  # [characters], int32: code points
    starts: Any  # [characters], int64: first byte in the original text
    ends: Any  # [characters], int64: the byte after the last one
    splits: Any  # [batch + 1], int64: where each text starts, and the end of all

    def text(self):
        """The texts as strings `[batch]`."""
        codes = tf.RaggedTensor.from_row_splits(self.codes, self.splits, validate=False)
        return tf.strings.unicode_encode(codes, "UTF-8")

    def original_bytes(self, starts, ends, splits):
        """Map byte ranges of `text()` to byte ranges of the original text.

        The ranges of each text are given by `splits`. An empty range stays empty. A
        range that covers part of a character becomes the whole character.
        """
        _, firsts, lasts, own = code_points(self.text())
        first = _search(firsts, own, starts, splits, "right") - 1
        last = _search(lasts, own, ends, splits, "left")
        begin = tf.gather(self.starts, first)
        return begin, tf.where(ends > starts, tf.gather(self.ends, last), begin)


class Normalizer:
    """Turns texts `[batch]` into `CodePoints`; invalid UTF-8 becomes U+FFFD.

    Args:
        owner: name of the text processor, for errors.
        form: one of `FORMS`, or None.
        lowercase: whether to turn capital letters into small ones, each by itself.
        spaces: characters that count as white space: runs of them become one space,
            and those at both ends are dropped; "": there is no white space.
    """

    def __init__(self, owner, form=None, lowercase=False, spaces=WHITE_SPACE):
        steps, table = [], {ord(c): SPACE for c in spaces}
        if form is not None:
            library = tensorflow_text(owner)  # raises an error now if it is missing
            compose = functools.partial(_compose, library, FORMS[form])
            if form == "nfkc_casefold":
                steps.append(functools.partial(_fold, library))
            steps.append(compose)
        if lowercase:
            table |= _lowercase()
        if table:
            steps.append(functools.partial(_replace, dict(sorted(table.items()))))
        if form is not None and lowercase:
            steps.append(compose)  # ǰ is one code point, its capital letter is two
        if spaces:
            steps.append(_drop_spaces)
        self._steps = tuple(steps)

    def __call__(self, texts):
        points = code_points(texts)
        for step in self._steps:
            points = step(points)
        return points


def code_points(texts):
    """Return the `CodePoints` of texts `[batch]`."""
    codes, starts = tf.strings.unicode_decode_with_offsets(texts, "UTF-8", "replace")
    splits, starts = codes.row_splits, starts.values
    sizes = tf.gather(tf.cast(tf.strings.length(texts), tf.int64), row_of(splits))
    following = tf.concat([starts, [0]], axis=0)[1:]  # 0: the next text begins
    return CodePoints(
        codes.values, starts, tf.where(following > 0, following, sizes), splits
    )


def _search(offsets, splits, wanted, wanted_splits, side):
    """Find the place of each wanted offset in its row, in one search for all rows."""
    # Each row is shifted beyond the row before it, so that all offsets are sorted.
    shifted = offsets + row_of(splits) * 2**40
    return tf.searchsorted(shifted, wanted + row_of(wanted_splits) * 2**40, side)


def _compose(library, form, points):
    """Apply a Unicode normal form."""
    # find_source_offsets refuses texts without characters, and crashes the process if
    # there are no texts. So each text gets one more character, and there is one more
    # text.
    texts = tf.concat([points.text(), [""]], axis=0) + END
    texts, changes = library.normalize_utf8_with_offsets_map(texts, form)
    codes, starts, ends, splits = code_points(texts)
    kept, shorter = keep(tf.concat([starts, [0]], axis=0)[1:] > 0, splits)

    def before(offsets):
        ragged = tf.RaggedTensor.from_row_splits(offsets, splits, validate=False)
        offsets = library.find_source_offsets(changes, ragged).values
        return tf.gather(offsets, kept)

    starts, ends, splits = before(starts), before(ends), shorter[:-1]
    # A character inside a change has the end of the change as its start. It gets the
    # start of the first character with the same end instead.
    first = _search(ends, splits, ends, splits, "left")
    starts = tf.gather(starts, first)
    begin, end = points.original_bytes(starts, ends, splits)
    return CodePoints(tf.gather(codes, kept), begin, end, splits)


def drop_marks(library, points):
    """Drop accents and other marks: é becomes e."""
    codes, starts, ends, splits = _compose(library, "NFD", points)
    characters = tf.strings.unicode_encode(codes[:, None], "UTF-8")
    is_mark = tf.strings.regex_full_match(characters, r"\p{Mn}")
    kept, splits = keep(~is_mark, splits)
    return CodePoints(*(tf.gather(x, kept) for x in (codes, starts, ends)), splits)


def fold(library, points):
    """Apply NFKC_Casefold to whole texts, as `tensorflow_text.case_fold_utf8` does."""
    return _compose(library, "NFC", _fold(library, points))


def _fold(library, points):
    """Apply NFKC_Casefold, which turns a character into none, one or several."""
    codes, index = tf.unique(points.codes)
    folded = library.case_fold_utf8(tf.strings.unicode_encode(codes[:, None], "UTF-8"))
    folded = tf.gather(tf.strings.unicode_decode(folded, "UTF-8"), index)
    origin = row_of(folded.row_splits)
    return CodePoints(
        folded.values,
        tf.gather(points.starts, origin),
        tf.gather(points.ends, origin),
        tf.gather(folded.row_splits, points.splits),
    )


def _replace(table, points):
    """Replace characters by others, one for one; `table` is sorted."""
    old, new = (np.array(list(x), "int32") for x in (table.keys(), table.values()))
    codes = points.codes
    at = tf.minimum(tf.searchsorted(old, codes), len(old) - 1)
    codes = tf.where(tf.gather(old, at) == codes, tf.gather(new, at), codes)
    return points._replace(codes=codes)


@functools.cache
def _lowercase():
    """Unicode's simple mapping to small letters, as a dict of code points.

    tf.strings.lower is not used, because it depends on the locale of the machine: on a
    Turkish one, I becomes a dotless i. The last sigma of a Greek word in capitals
    becomes a medial sigma.
    """
    letters = ((c, ord(chr(c).lower()[0])) for c in range(sys.maxunicode + 1))
    return {letter: small for letter, small in letters if letter != small}


def _drop_spaces(points):
    """Leave one space between words, and none at both ends."""
    codes, starts, ends, splits = points
    rows, word = row_of(splits), codes != SPACE
    before = running_sum(tf.cast(word, tf.int32), splits) > 0
    same_row = tf.concat([rows, [-1]], axis=0)[1:] == rows
    after = tf.concat([word, [False]], axis=0)[1:] & same_row
    kept, splits = keep(word | (before & after), splits)
    return CodePoints(*(tf.gather(x, kept) for x in (codes, starts, ends)), splits)


def are_blank(texts, lengths):
    """Whether texts are empty, white space, or nothing after the normalisation.

    Args:
        texts: strings `[batch]`.
        lengths: their numbers of tokens `[batch]`, the end token included.

    Returns:
        bool `[batch]`.

    Example:
        >>> are_blank(["a", "", " \\t"], tf.constant([2, 1, 3])).numpy().tolist()
        [False, True, True]
    """
    return tf.strings.regex_full_match(texts, f"[{WHITE_SPACE}]*") | (lengths == 1)


# Row operations of ragged tensors, with fewer operations than TensorFlow's own.


def row_of(splits):
    """Return the row of each value, int64."""
    values = tf.range(splits[-1])
    return tf.cast(tf.searchsorted(splits, values, side="right") - 1, tf.int64)


def running_sum(values, splits):
    """Return the sum from the start of its row up to and including each value."""
    sums = tf.concat([[0], tf.cumsum(values)], axis=0)
    return sums[1:] - tf.gather(tf.gather(sums, splits), row_of(splits))


def keep(kept, splits):
    """Return the indices of the values to keep, and the new splits."""
    counts = tf.concat([[0], tf.cumsum(tf.cast(kept, tf.int64))], axis=0)
    return tf.where(kept)[:, 0], tf.gather(counts, splits)


def ragged_rows(splits, *values):
    """Return ragged tensors with the same rows; `splits` are int64."""
    return tuple(
        tf.RaggedTensor.from_row_splits(x, splits, validate=False) for x in values
    )
