"""Loads a `model.keras` that may be untrusted: everything in it has a bound."""

import contextlib
import math
import threading
import zipfile

import h5py
import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import JSON, in_one_line, open_regular, parse_json
from keras_seqattn.translator.archive import Part, members_of, unpacked
from keras_seqattn.translator.known_names import check_names

_CONFIG, _WEIGHTS = "config.json", "model.weights.h5"
_SLACK = 4 * 2**20  # numbers of what has weights that are not stored
_LEAST = 1000  # numbers
_PATCHING = threading.RLock()


def load_model(owner, path, verified):
    """The model, not compiled.

    Args:
        owner: name of the caller, for errors.
        path: of the file.
        verified: whether its checksum is known to be right.
    """
    state = "a damaged one"
    try:
        with open_regular(owner, path) as file:
            return _loaded(file, path, verified)
    except FileNotFoundError as error:
        state, cause = "none", error
    except _Unusable as error:
        cause = error.__cause__ or error
    raise four_part_error(
        f"{owner} cannot load {path}",
        "a Keras model whose classes are all known",
        f"{state}, or one with others ({in_one_line(cause)})",
        "Copy the folder again; import your own classes first",
    ) from cause


class _Unusable(Exception):
    """The file holds no model that can be loaded."""


def _loaded(file, path, verified):
    try:
        members = members_of(file, {_CONFIG: JSON, _WEIGHTS: None})
        config = parse_json(unpacked(file, members[_CONFIG]).getvalue())
        if isinstance(config, dict):
            config.pop("compile_config", None)  # which Keras will leave out, too
        weights = members[_WEIGHTS]
        as_it_is = verified and weights.compress_type == zipfile.ZIP_STORED
        stored, arrays = _stored((Part if as_it_is else unpacked)(file, weights))
        check_names(config, layers=arrays)
        with _at_most(2 * stored + _SLACK):
            model = keras.models.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # of whatever kind: the file may hold anything
        raise _Unusable from error
    if not isinstance(model, keras.Model):
        raise _Unusable(f"{type(model).__name__} is no model")
    return model


def _stored(file):
    """How many numbers the weights are, and in how many arrays."""
    arrays = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name] = _numbers(name, item)

    with h5py.File(file, "r") as weights:
        weights.visititems(visit)
    return sum(arrays.values()), len(arrays)


def _numbers(name, item):
    """Of an array that is stored in full, as Keras writes it.

    An array in chunks or in other files can declare more than there is.
    """
    whole = item.shape is not None and item.dtype.kind in "biufV"
    whole = whole and item.chunks is None and not item.external and not item.is_virtual
    number = math.prod(item.shape) if whole else 0
    if not whole or item.id.get_storage_size() < number * item.dtype.itemsize:
        raise ValueError(f"the weights {name!r} are not stored in full")
    return number


@contextlib.contextmanager
def _at_most(numbers):
    """A model that is built in here cannot have more numbers in its weights.

    Keras allocates weights before it reads them, of whatever size the configuration
    says. A layer asks for each of them by `add_weight`, the last place where nothing is
    allocated yet.
    """
    mine, left, plain = threading.get_ident(), numbers, keras.layers.Layer.add_weight

    def add_weight(layer, shape=None, *args, **kwargs):
        nonlocal left
        if threading.get_ident() == mine:  # other threads may build what they like
            sizes = [shape] if isinstance(shape, int) else shape or ()
            # Thousands of tiny ones take long to build; no weight counts for less.
            left -= max(math.prod(abs(size or 0) for size in sizes), _LEAST)
            if not left >= 0:  # NaN is no size either
                raise ValueError(
                    f"{type(layer).__name__} has weights of shape {tuple(sizes)}, and "
                    f"the file does not hold as many: {numbers} numbers at most"
                )
        return plain(layer, shape, *args, **kwargs)

    with _PATCHING:
        keras.layers.Layer.add_weight = add_weight
        try:
            yield
        finally:
            keras.layers.Layer.add_weight = plain
