"""Files that are whole or not there at all; the weights of a model in one of them."""

import contextlib
import errno
import math
import os
import shutil
from pathlib import Path


@contextlib.contextmanager
def replacing(path):
    """Gives a path to write to; what is there afterwards takes the place of `path`.

    Whatever goes wrong before, a full disk, an error, the power, the old file is still
    there.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".unfinished-{path.name}")
    try:
        yield unfinished
        _to_disk(unfinished)
        os.replace(unfinished, path)
        _to_disk(path.parent)  # the new name, too
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def save_weights(model, path, with_optimizer=False):
    """Saves the weights of a model in a `.weights.h5` file.

    With its optimizer, training can go on from them.
    """
    extra = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    with replacing(path) as unfinished, extra:
        _check_space(model, unfinished)
        try:
            model.save_weights(unfinished)
        except OSError:
            # HDF5 holds what it could not write, and crashes when the process ends if
            # it still cannot then: this makes room.
            if unfinished.exists():
                os.truncate(unfinished, 0)
            raise


def load_weights(model, path):
    """Loads what `save_weights` saved; the optimizer keeps its state."""
    with without_optimizer(model):
        model.load_weights(path)


@contextlib.contextmanager
def without_optimizer(model):
    """Checkpoints hold the state of an optimizer, too, which is not wanted here."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        yield
        return
    model.optimizer = None
    try:
        yield
    finally:
        model.optimizer = optimizer


def _to_disk(path):
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_space(model, path):
    """HDF5 shall not find out by itself that the disk is full (see `save_weights`)."""
    variables = [*model.variables]
    if getattr(model, "optimizer", None) is not None:
        variables += model.optimizer.variables
    size = sum(v.value.dtype.size * math.prod(v.shape) for v in variables)
    needed = int(1.1 * size) + 4096 * (1 + len(variables))
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"save_weights got a disk that is full. Expected {needed} free bytes, "
            f"received {free} in {str(path.parent)!r}. Make room, or use another disk.",
        )
