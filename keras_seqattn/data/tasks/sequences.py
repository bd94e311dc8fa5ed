"""Random sequences of symbols, for the tasks `reverse` and `sort`."""

import random

from keras_seqattn.checks import check_count
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.tasks.checks import check_range, check_splits
from keras_seqattn.data.tasks.splits import split_items
from keras_seqattn.errors import abbreviated, four_part_error


def sequence_splits(owner, change, symbols, lengths, seed, **counts):
    """Return the splits; their pairs are different sequences s and `change(s)`."""
    _check_symbols(owner, symbols)
    check_range(owner, "lengths", lengths, 1, 1_000)
    check_count(owner, "seed", seed, 0)
    # Half of the longest sequences are drawn quickly, all of them hardly ever.
    enough = len(symbols) ** lengths[1] // 2
    remedy = "Lower these numbers, or pass more symbols or longer lengths"
    check_splits(owner, enough, "sequences to draw from", remedy, **counts)
    drawn = _draw(symbols, lengths, sum(counts.values()), random.Random(seed))
    return {
        split: Pairs(texts, list(map(change, texts)))
        for split, texts in split_items(drawn, **counts).items()
    }


def _draw(symbols, lengths, count, draw):
    sequences = {}  # a dict: the order of a set of strings differs between processes
    while len(sequences) < count:
        length = draw.randint(*lengths)
        sequences["".join(draw.choices(symbols, k=length))] = None
    sequences = list(sequences)
    draw.shuffle(sequences)  # the few short ones come early, and belong to all splits
    return sequences


def _check_symbols(owner, symbols):
    usable = isinstance(symbols, str) and len(set(symbols)) == len(symbols) >= 2
    if not usable or any(symbol.isspace() for symbol in symbols):
        raise four_part_error(
            f"{owner} got unusable symbols",
            "a string of 2 or more different characters without white space",
            f"symbols={abbreviated(symbols)}",
            'Pass e.g. symbols="0123456789"',
        )
