"""One model out of several checkpoints of its training."""

import os
import zipfile

import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.models.checkpoint import load_weights


def average_checkpoints(model, paths):
    """Sets the weights of a model to the mean of those saved in some files.

    The last few checkpoints of one training, averaged, often translate better than the
    last one. In memory there are never more than three sets of weights, that of the
    model, a copy of it, and a sum in float64, however many files. What is not a float
    (a counter) comes from the last file. If a file cannot be read or does not fit, the
    model keeps the weights that it had. Its optimizer always keeps its state.

    Args:
        model: a built `keras.Model`.
        paths: of `.weights.h5` or `.keras` files of this model.

    Equations:
        w = sum{w_n : n} / N

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> with TemporaryDirectory() as folder:
        ...     paths = [f"{folder}/{n}.weights.h5" for n in (1, 2)]
        ...     for value, path in zip((1.0, 3.0), paths):
        ...         model.set_weights([np.array([[value]]), np.zeros(1)])
        ...         model.save_weights(path)
        ...     average_checkpoints(model, paths)
        >>> float(model.weights[0][0, 0])
        2.0
    """
    paths = [os.fspath(path) for path in paths]
    _check(model, paths)
    backup = [_value(variable).copy() for variable in model.variables]
    try:
        totals = _totals(model, paths)
    except BaseException:
        for variable, value in zip(model.variables, backup, strict=True):
            variable.assign(value)
        raise
    for variable, total in zip(model.variables, totals, strict=True):
        variable.assign(total / len(paths) if _is_float(variable) else total)


def _totals(model, paths):
    """Of each variable: the sum if it is a float, else its value in the last file."""
    totals = [0.0] * len(model.variables)
    for path in paths:
        _load(model, path)
        for i, variable in enumerate(model.variables):
            value = _value(variable)
            if _is_float(variable):
                value = totals[i] + value.astype("float64")
            totals[i] = value
    return totals


def _value(variable):
    return keras.ops.convert_to_numpy(variable)


def _is_float(variable):
    return keras.backend.is_float_dtype(variable.dtype)


def _load(model, path):
    try:
        load_weights(model, path)
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise four_part_error(
            "average_checkpoints got a file that does not fit the model",
            f"weights of {model.name!r} in a .weights.h5 or .keras file",
            repr(path),
            "Use checkpoints of one and the same model; the error above says what "
            "Keras could not read",
        ) from error


def _check(model, paths):
    if not paths:
        raise four_part_error(
            "average_checkpoints got nothing to average",
            "one path or more",
            "none",
            "Check the pattern that should have found the files",
        )
    if not model.built:
        raise four_part_error(
            "average_checkpoints got a model without weights",
            "a built model",
            f"{model.name!r} with built=False",
            "Call it once before",
        )
    quantized = [
        layer.name
        for layer in model._flatten_layers()
        if getattr(layer, "quantization_mode", None) is not None
    ]
    if quantized:
        raise four_part_error(
            "average_checkpoints got a quantised model",
            "weights whose mean is a weight again",
            f"{quantized} in integers with scales",
            "Average first, then quantize",
        )
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise four_part_error(
            "average_checkpoints got paths that do not exist",
            "files",
            missing,
            "Check the folder; the model has not been touched",
        )
