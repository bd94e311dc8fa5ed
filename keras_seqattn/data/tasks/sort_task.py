"""The task `sort`: symbols in their order."""

from keras_seqattn.data.tasks.sequences import sequence_splits
from keras_seqattn.data.tasks.task_data import Task


def sort(
    symbols="abcdefghijklmnopqrstuvwxyz",
    lengths=(1, 12),
    train=20_000,
    validation=500,
    test=500,
    seed=0,
):
    """Symbols in their order: the alignment jumps to the next smallest symbol.

    All sequences differ: no held-out sequence is in `train`.

    Args:
        symbols: a string, each of its characters is a symbol; it gives their order.
        lengths: the shortest and the longest length; all lengths between are equally
            frequent, if there are enough different sequences.
        train: number of pairs.
        validation: number of pairs.
        test: number of pairs.
        seed: decides which sequences there are, and which are held out.

    Returns:
        `Task`, characters to characters.

    Example:
        >>> task = sort(symbols="zyx", lengths=(4, 6), train=9, validation=2, test=2)
        >>> all(sorted(target)[::-1] == list(target) for _, target in task.train)
        True
    """

    def ordered(text):
        return "".join(sorted(text, key=symbols.index))

    counts = {"train": train, "validation": validation, "test": test}
    splits = sequence_splits("sort", ordered, symbols, lengths, seed, **counts)
    what = f"{lengths[0]} to {lengths[1]} of {symbols}, in order: cab to abc"
    return Task("sort", what, **splits)
