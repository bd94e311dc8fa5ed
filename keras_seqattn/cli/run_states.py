"""What a run stores after each epoch: its state, and a line of `history.jsonl`."""

import contextlib
import json
import re

import h5py

from keras_seqattn.cli.progress import note
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import is_whole, remove, replacing
from keras_seqattn.models.checkpoint import (
    check_regular,
    load_weights,
    save_weights,
)
from keras_seqattn.safe_reading import JSON, parse_json, read_bytes

KEPT = 2  # states, because the last one may be damaged
_NAME = re.compile(r"state-(\d+)\.weights\.h5")


class RunStates:
    """The files `state-<epoch>.weights.h5`, each with a checksum beside it.

    A state holds the weights and the optimizer after an epoch.

    Args:
        folder: path.
    """

    def __init__(self, folder):
        self.folder = folder

    def epochs(self):
        """Return the epochs that have a state, in ascending order."""
        matches = (_NAME.fullmatch(path.name) for path in self.folder.glob("state-*"))
        return sorted(int(match[1]) for match in matches if match)

    def path(self, epoch):
        """Return the path of the state after an epoch."""
        return self.folder / f"state-{epoch}.weights.h5"

    def last_whole(self):
        """Return the last epoch with an undamaged state, or 0 if there are no states.

        Later states that are damaged are reported.
        """
        epochs = self.epochs()
        damaged = []
        for epoch in reversed(epochs):
            if _is_usable(self.path(epoch)):
                for other in damaged:
                    note(
                        f"{self.path(other)} is damaged: its content is not what was "
                        f"written. The run continues from epoch {epoch}."
                    )
                return epoch
            damaged.append(epoch)
        if damaged:
            raise four_part_error(
                "train found no undamaged state to continue from",
                "a file with the content of its checksum",
                f"{' and '.join(str(self.path(epoch)) for epoch in damaged)}, damaged",
                "Restore the files, or start a new run with --repeat and its run.json",
            )
        return 0

    def save(self, model, epoch):
        """Write a state, then remove the states that are too old."""
        save_weights(model, self.path(epoch), with_optimizer=True)
        for old in self.epochs():
            if not epoch - KEPT < old <= epoch:
                remove(self.path(old))

    def forget_after(self, epoch):
        """Remove the states of later epochs, if an earlier state exists."""
        if any(kept <= epoch for kept in self.epochs()):
            for late in self.epochs():
                if late > epoch:
                    remove(self.path(late))

    def load(self, model, epoch):
        """Load the weights and the optimizer of a state."""
        model.optimizer.build(model.trainable_variables)
        load_weights(model, self.path(epoch), with_optimizer=True)


def read_history(path):
    """Return the entries of a history without damaged lines."""
    if not path.exists():
        return []
    entries = []
    for line in read_bytes("seqattn", path, JSON).splitlines():
        with contextlib.suppress(ValueError):
            entries.append(parse_json(line))
    return [entry for entry in entries if _is_entry(entry)]


def write_history(path, entries):
    """Write the whole file: a line that follows a half written one would be damaged."""
    with replacing(path) as file:
        lines = (f"{json.dumps(entry)}\n" for entry in entries)
        file.write_text("".join(lines), encoding="utf-8")


def _is_entry(value):
    return (
        isinstance(value, dict)
        and all(type(value.get(name)) is int for name in ("epoch", "step"))
        and all(type(number) in (int, float, type(None)) for number in value.values())
    )


def _is_usable(path):
    try:
        is_undamaged = is_whole(path)
        return _can_open(path) if is_undamaged is None else is_undamaged
    except (OSError, ValueError):  # e.g. a pipe
        return False


def _can_open(path):
    """Check a file without a checksum, which earlier versions did not write."""
    check_regular(path)
    with h5py.File(path):
        return True
