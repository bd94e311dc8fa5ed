"""The weights of a model in a file that is written completely or not at all."""

import contextlib
import io
import os

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import open_regular


def save_weights(model, path, with_optimizer=False):
    """Save the weights of a model in a `.weights.h5` file, with a checksum file.

    With the state of the optimizer, training can be continued.
    """
    context = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    file = _MemoryFile()
    with context:
        model.save_weights(file)
    with replacing(path, with_checksum=True) as unfinished:
        unfinished.write_bytes(file.getbuffer())


def load_weights(model, path, with_optimizer=False):
    """Load weights that `save_weights` saved.

    Without `with_optimizer`, the state of the optimizer does not change.
    """
    context = contextlib.nullcontext() if with_optimizer else without_optimizer(model)
    check_regular(path)
    with context:
        model.load_weights(path)


def check_regular(path):
    """Check that a path is not a pipe or a device, where HDF5 would wait forever."""
    open_regular("load_weights", path).close()


@contextlib.contextmanager
def readable_weights(owner, path):
    """Say in one line what Keras says of a file that is missing or does not fit."""
    is_path = isinstance(path, (str, os.PathLike))
    if is_path and "://" not in str(path) and not os.path.exists(path):
        raise four_part_error(
            f"{owner} did not find a file",
            "a .weights.h5 or .keras file",
            abbreviated(os.fspath(path)),
            "Check the folder and the spelling",
            kind=FileNotFoundError,
        )
    try:
        yield
    except ValueError as error:
        raise four_part_error(
            f"{owner} got weights that do not fit the model",
            "a .weights.h5 or .keras file of a model with the same parts and sizes",
            abbreviated(path),
            "Build the model as the saved one, or load the whole model with "
            "keras.models.load_model or Translator.load; the error above says what "
            "Keras could not read",
        ) from error


@contextlib.contextmanager
def without_optimizer(model):
    """Remove the optimizer of a model for a while, so that files leave it out."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        yield
        return
    model.optimizer = None
    try:
        yield
    finally:
        model.optimizer = optimizer


class _MemoryFile(io.BytesIO):
    """A file in memory: HDF5 would crash the process on a full disk.

    Keras checks the ending of its name and passes the object on to HDF5.
    """

    def __str__(self):
        return "memory.weights.h5"
