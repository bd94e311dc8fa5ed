"""The weights of a model in a file that is written completely or not at all."""

import contextlib
import io
import os

import h5py

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
def readable_weights(model, path):
    """Say in one line what Keras says of a file that is missing or does not fit."""
    owner = f"{type(model).__name__}.load_weights"
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
            f"{abbreviated(path)}{_difference(model, path)}",
            "Build the model with the parts and sizes of the saved one; "
            "keras.models.load_model builds it from a .keras file",
        ) from error


def _difference(model, path):
    """Return in words the first weight of another shape than in a `.weights.h5`."""
    if not str(path).endswith(".weights.h5") or not os.path.isfile(str(path)):
        return ""
    own = _MemoryFile()
    with without_optimizer(model):
        model.save_weights(own)
    stored, expected = _shapes(path), _shapes(own)
    for name in expected:
        if name in stored and stored[name] != expected[name]:
            return f" with {name} of shape {stored[name]}, not {expected[name]}"
    return ""


def _shapes(file):
    """Return the shapes of all weights in a file of HDF5, by name."""
    nodes = {}
    with h5py.File(file) as content:
        content.visititems(lambda name, x: nodes.update({name: x}))
        return {n: x.shape for n, x in nodes.items() if isinstance(x, h5py.Dataset)}


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
