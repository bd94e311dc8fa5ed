"""Loads a `model.keras` that may be untrusted: its sizes and names are checked."""

import contextlib
import math
import threading
import zipfile

import h5py
import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.parts.hub import import_hub
from keras_seqattn.safe_reading import JSON, in_one_line, open_regular, parse_json
from keras_seqattn.translator.archive import StoredMember, checked_members, unpack
from keras_seqattn.translator.known_names import check_names
from keras_seqattn.translator.unsafe_file import UnsafeFile

_CONFIG, _WEIGHTS = "config.json", "model.weights.h5"
_SLACK = 4 * 2**20  # numbers in weights that a model may have beside the stored ones
_LEAST = 1000  # numbers
_PATCHING = threading.RLock()


def load_model(owner, path, verified):
    """Return the model, not compiled.

    Args:
        owner: name of the caller, for errors.
        path: path of the file.
        verified: whether the checksum of the file was verified.
    """
    try:
        with open_regular(owner, path) as file:
            return _load(owner, file, path, verified)
    except FileNotFoundError as error:
        received, cause = "no such file", error
    except UnsafeFile as error:
        cause = error.__cause__ or error
        received = f"a damaged or unsafe file ({in_one_line(cause)})"
    raise four_part_error(
        f"{owner} cannot load {path}",
        "a Keras model whose classes are all known",
        received,
        "Copy the folder again; import your own classes first",
    ) from cause


def _load(owner, file, path, verified):
    try:
        members = checked_members(file, {_CONFIG: JSON, _WEIGHTS: None})
        content = unpack(file, members[_CONFIG]).getvalue()
        config = parse_json(content)
        if isinstance(config, dict):
            config.pop("compile_config", None)  # Keras ignores it with compile=False
        if b'"keras_hub>' in content:  # Keras would not find its classes
            import_hub(owner)
        weights = members[_WEIGHTS]
        is_plain = verified and weights.compress_type == zipfile.ZIP_STORED
        weights = (StoredMember if is_plain else unpack)(file, weights)
        numbers, arrays = _count_stored(weights)
        check_names(config, layers=arrays)
        with _weights_limited_to(2 * numbers + _SLACK):
            model = keras.models.load_model(path, compile=False, safe_mode=True)
    except ImportError:  # a package is missing: the file is right
        raise
    except Exception as error:  # an untrusted file may cause any exception
        raise UnsafeFile(in_one_line(error)) from error
    if not isinstance(model, keras.Model):
        raise UnsafeFile(f"it holds a {type(model).__name__}, which is not a model")
    return model


def _count_stored(file):
    """Return how many numbers the stored weights are, and in how many arrays."""
    sizes = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            sizes[name] = _stored_size(name, item)

    with h5py.File(file, "r") as weights:
        weights.visititems(visit)
    return sum(sizes.values()), len(sizes)


def _stored_size(name, item):
    """Return the size of an array, which must be stored in full, as Keras does it.

    An array in chunks or in other files can declare more numbers than are stored.
    """
    is_full = item.shape is not None and item.dtype.kind in "biufV"
    is_full = is_full and item.chunks is None
    is_full = is_full and not item.external and not item.is_virtual
    size = math.prod(item.shape) if is_full else 0
    if not is_full or item.id.get_storage_size() < size * item.dtype.itemsize:
        raise UnsafeFile(f"the weights {name!r} are not stored in full")
    return size


@contextlib.contextmanager
def _weights_limited_to(numbers):
    """Limit the weights of all models that this thread builds meanwhile.

    Keras allocates weights of the sizes in the configuration before it reads them. A
    layer creates each of them with `add_weight`, the last place before the allocation.
    """
    thread, remaining = threading.get_ident(), numbers
    keras_add_weight = keras.layers.Layer.add_weight

    def add_weight(layer, shape=None, *args, **kwargs):
        nonlocal remaining
        if threading.get_ident() == thread:  # other threads have no limit
            sizes = [shape] if isinstance(shape, int) else shape or ()
            # Thousands of tiny weights take long to build, so each has a least cost.
            remaining -= max(math.prod(abs(size or 0) for size in sizes), _LEAST)
            if not remaining >= 0:  # true for NaN, too
                raise UnsafeFile(
                    f"{type(layer).__name__} has weights of shape {tuple(sizes)}, but "
                    f"the file stores too few: {numbers} numbers are allowed in all"
                )
        return keras_add_weight(layer, shape, *args, **kwargs)

    with _PATCHING:
        keras.layers.Layer.add_weight = add_weight
        try:
            yield
        finally:
            keras.layers.Layer.add_weight = keras_add_weight
