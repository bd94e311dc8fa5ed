"""Weights and optimizer after each of the last epochs, to go on from."""

import re

import h5py

from keras_seqattn.cli.progress import note
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import is_whole, remove
from keras_seqattn.models.checkpoint import (
    check_regular,
    load_weights,
    save_weights,
)

KEPT = 2  # the last one may be damaged
_NAME = re.compile(r"state-(\d+)\.weights\.h5")


class RunStates:
    """`state-<epoch>.weights.h5`, each with a checksum beside it.

    Args:
        folder: path.
    """

    def __init__(self, folder):
        self.folder = folder

    def epochs(self):
        """Those after which there is a state, ascending."""
        found = (_NAME.fullmatch(path.name) for path in self.folder.glob("state-*"))
        return sorted(int(match[1]) for match in found if match)

    def path(self, epoch):
        return self.folder / f"state-{epoch}.weights.h5"

    def last_whole(self):
        """The last epoch with a whole state, or 0; says which states are damaged."""
        epochs = self.epochs()
        damaged = []
        for epoch in reversed(epochs):
            if _is_usable(self.path(epoch)):
                for other in damaged:
                    note(
                        f"{self.path(other)} is damaged: its content is not what was "
                        f"written. The run goes on from epoch {epoch}."
                    )
                return epoch
            damaged.append(epoch)
        if damaged:
            raise four_part_error(
                "train found no whole state to go on from",
                "a file with the content of its checksum",
                f"{' and '.join(str(self.path(epoch)) for epoch in damaged)}, damaged",
                "Put the files back, or start a new run with --repeat and its run.json",
            )
        return 0

    def save(self, model, epoch):
        """Writes a state, then removes those that are too old."""
        save_weights(model, self.path(epoch), with_optimizer=True)
        for old in self.epochs():
            if not epoch - KEPT < old <= epoch:
                remove(self.path(old))

    def forget_after(self, epoch):
        """Removes the states of later epochs, unless there is no earlier one."""
        if any(kept <= epoch for kept in self.epochs()):
            for late in self.epochs():
                if late > epoch:
                    remove(self.path(late))

    def load(self, model, epoch):
        """Weights and optimizer as they were after so many epochs."""
        model.optimizer.build(model.trainable_variables)
        load_weights(model, self.path(epoch), with_optimizer=True)


def _is_usable(path):
    try:
        whole = is_whole(path)
        return _opens(path) if whole is None else whole
    except (OSError, ValueError):  # e.g. a pipe
        return False


def _opens(path):
    """What can be known without a checksum: runs of earlier versions have none."""
    check_regular(path)
    with h5py.File(path):
        return True
