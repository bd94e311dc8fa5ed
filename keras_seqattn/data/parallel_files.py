"""Rows of two parallel files: line n of one translates line n of the other."""

import itertools

from keras_seqattn.data.row import Row
from keras_seqattn.data.text_files import lines
from keras_seqattn.errors import four_part_error


def rows(source, target):
    """Yield `Row`s."""
    counts = [0, 0]
    sides = itertools.zip_longest(lines(source), lines(target))
    for number, pair in enumerate(sides, start=1):
        for i, side in enumerate(pair):
            counts[i] += side is not None
        if None not in pair:
            yield Row(number, *pair)
    if counts[0] != counts[1]:
        raise four_part_error(
            "read_pairs got two files of different length",
            "the same number of lines in both",
            f"{counts[0]} in {source!r} and {counts[1]} in {target!r}",
            "Check the files: a line may be missing or broken in two",
        )
