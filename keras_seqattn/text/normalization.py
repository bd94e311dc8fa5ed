"""The text that is read, and which bytes of the untouched text it stands for.

Every step works on characters, each with its bytes in the untouched text: however often
a step changes lengths, the way back stays exact.
"""

import functools
import sys
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_seqattn.text.optional_packages import tensorflow_text
from keras_seqattn.text.ragged_operations import keep, row_of, running_sum

SPACE = ord(" ")
END = "\0"  # changes nothing in front of it
WHITE_SPACE = "".join(chr(c) for c in range(0x3001) if chr(c).isspace())
FORMS = {"nfc": "NFC", "nfkc": "NFKC", "nfkc_casefold": "NFC"}


class CodePoints(NamedTuple):
    """The characters of texts one after the other, and what each of them stands for."""

    codes: Any  # [characters], int32: code points
    starts: Any  # [characters], int64: bytes of the untouched text
    ends: Any  # [characters], int64
    splits: Any  # [batch + 1], int64: where each text starts, and the end of all

    def text(self):
        """Strings `[batch]`."""
        codes = tf.RaggedTensor.from_row_splits(self.codes, self.splits, validate=False)
        return tf.strings.unicode_encode(codes, "UTF-8")

    def original_bytes(self, starts, ends, splits):
        """From bytes of `text()` to bytes of the untouched text, rows by `splits`.

        What is empty stays empty. What is a part of a character becomes all of it.
        """
        _, firsts, lasts, own = code_points(self.text())
        first = _search(firsts, own, starts, splits, "right") - 1
        last = _search(lasts, own, ends, splits, "left")
        begin = tf.gather(self.starts, first)
        return begin, tf.where(ends > starts, tf.gather(self.ends, last), begin)


class Normalizer:
    """Texts `[batch]` to `CodePoints`; invalid UTF-8 becomes U+FFFD.

    Args:
        owner: name of the class that asks, for errors.
        form: one of `FORMS`, or None.
        lowercase: whether to write capital letters small, one by one.
        spaces: characters that count as white space: runs of them become one space,
            those at both ends are dropped; "": there is no white space.
    """

    def __init__(self, owner, form=None, lowercase=False, spaces=WHITE_SPACE):
        steps, table = [], {ord(c): SPACE for c in spaces}
        if form is not None:
            library = tensorflow_text(owner)  # an error now, not at the first text
            compose = functools.partial(_compose, library, FORMS[form])
            if form == "nfkc_casefold":
                steps.append(functools.partial(_fold, library))
            steps.append(compose)
        if lowercase:
            table |= _lowercase()
        if table:
            steps.append(functools.partial(_replace, dict(sorted(table.items()))))
        if form is not None and lowercase:
            steps.append(compose)  # there is a small j with caron, but no capital one
        if spaces:
            steps.append(_drop_spaces)
        self._steps = tuple(steps)

    def __call__(self, texts):
        points = code_points(texts)
        for step in self._steps:
            points = step(points)
        return points


def code_points(texts):
    """The characters of texts `[batch]`."""
    codes, starts = tf.strings.unicode_decode_with_offsets(texts, "UTF-8", "replace")
    splits, starts = codes.row_splits, starts.values
    sizes = tf.gather(tf.cast(tf.strings.length(texts), tf.int64), row_of(splits))
    following = tf.concat([starts, [0]], axis=0)[1:]  # 0: the next text begins
    return CodePoints(
        codes.values, starts, tf.where(following > 0, following, sizes), splits
    )


def _search(offsets, splits, wanted, wanted_splits, side):
    """Where in its row each wanted offset belongs: one search through all rows."""
    behind = offsets + row_of(splits) * 2**40  # sorted: each row beyond the one before
    return tf.searchsorted(behind, wanted + row_of(wanted_splits) * 2**40, side)


def _compose(library, form, points):
    """A Unicode normal form."""
    # find_source_offsets refuses texts without characters, and brings the process down
    # where there are no texts: so one character more in each, and one text more.
    texts = tf.concat([points.text(), [""]], axis=0) + END
    texts, changes = library.normalize_utf8_with_offsets_map(texts, form)
    codes, starts, ends, splits = code_points(texts)
    kept, shorter = keep(tf.concat([starts, [0]], axis=0)[1:] > 0, splits)

    def before(offsets):
        ragged = tf.RaggedTensor.from_row_splits(offsets, splits, validate=False)
        offsets = library.find_source_offsets(changes, ragged).values
        return tf.gather(offsets, kept)

    starts, ends, splits = before(starts), before(ends), shorter[:-1]
    # What lies within a change has the end of the change as its start, too: it takes
    # the start of the first character with that end.
    first = _search(ends, splits, ends, splits, "left")
    starts = tf.gather(starts, first)
    begin, end = points.original_bytes(starts, ends, splits)
    return CodePoints(tf.gather(codes, kept), begin, end, splits)


def _fold(library, points):
    """NFKC_Casefold of each character: none, one or several."""
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
    """Characters by others, one for one; `table` is sorted."""
    old, new = (np.array(list(x), "int32") for x in (table.keys(), table.values()))
    codes = points.codes
    at = tf.minimum(tf.searchsorted(old, codes), len(old) - 1)
    codes = tf.where(tf.gather(old, at) == codes, tf.gather(new, at), codes)
    return points._replace(codes=codes)


@functools.cache
def _lowercase():
    """Unicode's simple mapping.

    Not tf.strings.lower, which asks for the language of the machine: on a Turkish one,
    I becomes dotless. The last sigma of a Greek word in capitals stays a medial one.
    """
    letters = ((c, ord(chr(c).lower()[0])) for c in range(sys.maxunicode + 1))
    return {letter: small for letter, small in letters if letter != small}


def _drop_spaces(points):
    """One space between words, none around them."""
    codes, starts, ends, splits = points
    rows, word = row_of(splits), codes != SPACE
    before = running_sum(tf.cast(word, tf.int32), splits) > 0
    same_row = tf.concat([rows, [-1]], axis=0)[1:] == rows
    after = tf.concat([word, [False]], axis=0)[1:] & same_row
    kept, splits = keep(word | (before & after), splits)
    return CodePoints(*(tf.gather(x, kept) for x in (codes, starts, ends)), splits)
