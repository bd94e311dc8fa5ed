"""The weights of a model in a file that is written whole or not at all."""

import contextlib
import io

from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import open_regular


def save_weights(model, path, with_optimizer=False):
    """Saves the weights of a model in a `.weights.h5` file, with a checksum beside it.

    With its optimizer, training can go on from them.
    """
    extra = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    memory = _Memory()
    with extra:
        model.save_weights(memory)
    with replacing(path, with_checksum=True) as unfinished:
        unfinished.write_bytes(memory.getbuffer())


def load_weights(model, path, with_optimizer=False):
    """Loads what `save_weights` saved; without it, the optimizer keeps its state."""
    extra = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    check_regular(path)
    with extra:
        model.load_weights(path)


def check_regular(path):
    """Raises for a pipe or a device, on which HDF5 waits without end."""
    open_regular("load_weights", path).close()


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


class _Memory(io.BytesIO):
    """A file in memory, for HDF5: when a disk gets full, HDF5 crashes the process.

    Keras wants a name with this ending, and gives the object itself to HDF5.
    """

    def __str__(self):
        return "memory.weights.h5"
