"""The average of several checkpoints of a model."""

import os
import zipfile

import keras

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.models.checkpoint import load_weights


def average_checkpoints(model, paths):
    """Set the weights of a model to the mean of the weights in several files.

    The average of the last few checkpoints of a training often translates better than
    the last one. For any number of files, at most three sets of weights are in memory:
    the model's, a copy of them, and a sum in float64. Variables that are not floats
    (counters) come from the last file. If a file cannot be read or does not fit, the
    model keeps its weights. The state of its optimizer never changes.

    Args:
        model: a built `keras.Model`.
        paths: paths of `.weights.h5` or `.keras` files of this model.

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
    _check_types(model, paths)
    paths = [os.fspath(path) for path in paths]
    _check_arguments(model, paths)
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
    """Return for each variable the sum over all files, or its last value.

    Floats are summed; the others keep their value of the last file.
    """
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
            "Use checkpoints of this model; the error above says what Keras could not "
            "read",
        ) from error


def _check_types(model, paths):
    is_model = isinstance(model, keras.Model)
    if is_model and isinstance(paths, (str, os.PathLike)):
        raise four_part_error(
            "average_checkpoints got one path",
            "a list of paths",
            abbreviated(paths),
            f"Put it into a list: [{abbreviated(os.fspath(paths))}]",
        )
    if not is_model or isinstance(paths, (bytes, keras.Model)):
        raise four_part_error(
            "average_checkpoints got unusable arguments",
            "a keras.Model, and a list of paths",
            f"{abbreviated(model)} and {abbreviated(paths)}",
            "Pass the model first, and then e.g. glob.glob('run/*.weights.h5')",
        )


def _check_arguments(model, paths):
    if not paths:
        raise four_part_error(
            "average_checkpoints got nothing to average",
            "one path or more",
            "none",
            "Check the pattern of the file names",
        )
    if not model.built:
        raise four_part_error(
            "average_checkpoints got a model without weights",
            "a built model",
            f"{model.name!r} with built=False",
            "Call the model once, to build it",
        )
    quantized = [
        layer.name
        for layer in model._flatten_layers()
        if getattr(layer, "quantization_mode", None) is not None
    ]
    if quantized:
        raise four_part_error(
            "average_checkpoints got a quantised model",
            "float weights, which can be averaged",
            f"{quantized} in integers with scales",
            "Average first, then quantize",
        )
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise four_part_error(
            "average_checkpoints got paths that do not exist",
            "files",
            missing,
            "Check the folder; the model is unchanged",
        )
