"""From a shuffled list to what is learned from and what is held out."""

import itertools


def split_items(items, train, validation, test):
    """`{"test": [...], "validation": [...], "train": [...]}`, disjoint.

    Test and validation come first, so that they stay the same whatever `train` is;
    train=None is the rest.
    """
    items = iter(items)
    counts = {"test": test, "validation": validation, "train": train}
    return {split: list(itertools.islice(items, counts[split])) for split in counts}
