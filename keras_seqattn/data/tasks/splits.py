"""Splitting a shuffled list into training, validation and test."""

import itertools


def split_items(items, train, validation, test):
    """Return disjoint `{"test": [...], "validation": [...], "train": [...]}`.

    Test and validation are taken first, so that they do not depend on `train`;
    train=None takes the rest.
    """
    items = iter(items)
    counts = {"test": test, "validation": validation, "train": train}
    return {split: list(itertools.islice(items, counts[split])) for split in counts}
