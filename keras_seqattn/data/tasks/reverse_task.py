"""The task `reverse`: symbols in reverse order."""

from keras_seqattn.data.tasks.sequences import sequence_splits
from keras_seqattn.data.tasks.task_data import Task


def reverse(
    symbols="abcdefghijklmnopqrstuvwxyz",
    lengths=(1, 12),
    train=20_000,
    validation=500,
    test=500,
    seed=0,
):
    """Symbols in reverse order: the alignment is the other diagonal.

    All sequences differ: no held-out sequence is in `train`.

    Args:
        symbols: a string, each of its characters is a symbol.
        lengths: the shortest and the longest length; all lengths between are equally
            frequent, if there are enough different sequences.
        train: number of pairs.
        validation: number of pairs.
        test: number of pairs.
        seed: decides which sequences there are, and which are held out.

    Returns:
        `Task`, characters to characters.

    Example:
        >>> task = reverse(symbols="abc", lengths=(4, 6), train=9, validation=2, test=2)
        >>> all(source[::-1] == target for source, target in task.train)
        True
    """
    counts = {"train": train, "validation": validation, "test": test}
    splits = sequence_splits("reverse", _reversed, symbols, lengths, seed, **counts)
    what = f"{lengths[0]} to {lengths[1]} of {symbols}, reversed: cab to bac"
    return Task("reverse", what, **splits)


def _reversed(text):
    return text[::-1]
