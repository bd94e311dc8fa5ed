"""The weights of a model in a file that is written whole or not at all."""

import contextlib
import errno
import math
import os
import shutil

from keras_seqattn.files import replacing


def save_weights(model, path, with_optimizer=False):
    """Saves the weights of a model in a `.weights.h5` file, with a checksum beside it.

    With its optimizer, training can go on from them.
    """
    extra = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    with replacing(path, with_checksum=True) as unfinished, extra:
        _check_space(model, unfinished)
        try:
            model.save_weights(unfinished)
        except (OSError, RuntimeError) as error:
            # HDF5 holds what it could not write, and crashes when the process ends if
            # it still cannot then: this makes room.
            if unfinished.exists():
                os.truncate(unfinished, 0)
            if isinstance(error, OSError):
                raise
            # h5py has no error number for what fails when a file is closed.
            raise OSError(f"HDF5 could not write it: {error}") from error


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


def _check_space(model, path):
    """HDF5 must not find out by itself that the disk is full (see `save_weights`)."""
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
