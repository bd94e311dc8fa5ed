"""The data of `fit` and its siblings: arrays, datasets and generators.

All are converted to what Keras takes, and checked before it traces.
"""

import contextlib
import functools
import re
import types

import keras
import numpy as np
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.models.fit_arguments import logits_part, with_logits_part
from keras_seqattn.models.token_checks import (
    as_numpy,
    check_batch_sizes,
    check_dtype,
    check_ids,
    check_labelled,
    check_labels,
    check_names,
    check_not_ids,
    check_not_pairs,
    check_one_hot,
    check_spec,
    check_weights,
    is_integer,
    out_of_range,
    pad_of,
    rank_of,
    wants_ids,
    wants_one_hot,
)


def checked_data(model, arguments, errors, is_labelled):
    """Return the arguments of `fit`, `predict`, ... with data that are checked.

    Args:
        model: a `TokenModel`.
        arguments: dict; x, y, sample_weight and validation_data are data.
        errors: list, to which errors of later batches of a generator are appended.
        is_labelled: whether there must be labels.
    """
    names = ("x", "y", "sample_weight")
    checked = functools.partial(_checked, model, errors, is_labelled)
    values = checked(*[arguments.get(name) for name in names])
    # What was not passed stays away.
    data = {n: v for n, v in zip(names, values, strict=True) if n in arguments}
    validation = arguments.get("validation_data")
    if isinstance(validation, (list, tuple)):
        validation = keras.utils.unpack_x_y_sample_weight(validation)
        data["validation_data"] = checked(*validation)
    elif validation is not None:
        data["validation_data"], *_ = checked(validation)
    return {**arguments, **data}


def _checked(model, errors, is_labelled, x, y=None, weights=None):
    check_not_pairs(type(model).__name__, x)
    if hasattr(x, "element_spec"):
        return _checked_dataset(model, x, is_labelled), y, weights
    if isinstance(x, keras.utils.PyDataset):
        if x.num_batches != 0:  # the first batch stands for all
            batch = keras.utils.unpack_x_y_sample_weight(x[0])
            checked_batch(model, *batch, is_labelled)
        return x, y, weights
    if isinstance(x, types.GeneratorType):
        return _checked_generator(model, errors, is_labelled, x), y, weights
    if x is None or isinstance(x, (dict, list, tuple)) or hasattr(x, "shape"):
        return checked_batch(model, x, y, weights, is_labelled)
    return x, y, weights  # of another library: Keras knows what to do


def _checked_generator(model, errors, is_labelled, batches):
    for batch in batches:
        try:
            batch = keras.utils.unpack_x_y_sample_weight(batch)
            batch = checked_batch(model, *batch, is_labelled)
        except ValueError as error:
            errors.append(error)
            raise
        yield keras.utils.pack_x_y_sample_weight(*batch)


# tf.data.Dataset ----------------------------------------------------------------------


def _checked_dataset(model, dataset, is_labelled):
    """Check the specs of a dataset, and convert its batches as those of arrays.

    No batch is computed for it. What an id beyond the vocabulary raises later,
    `errors_in_one_line` says.
    """
    if not hasattr(dataset, "map"):  # it is distributed already
        return dataset
    inputs, labels, weights = keras.utils.unpack_x_y_sample_weight(dataset.element_spec)
    check_names(model, inputs, labels)
    if is_labelled:
        check_labelled(model, labels)
    owner = type(model).__name__
    for name in model.vocabularies:
        if name in inputs:
            check_spec(owner, name, inputs[name])
    loss, labels = logits_part(model.loss), logits_part(labels)
    if hasattr(labels, "shape") and wants_ids(loss):
        check_one_hot(owner, labels)
        check_dtype(owner, "labels", labels)
    if labels is not None and wants_one_hot(loss):
        check_not_ids(owner, labels)
    return dataset.map(lambda *batch: _converted(model, *batch))


def _converted(model, inputs, labels=None, weights=None):
    """The batch of a dataset, in its graph: see `checked_batch`."""
    inputs = dict(inputs)
    for name in model.vocabularies:
        if name in inputs:
            pad = pad_of(model, name)
            ids = as_ids(inputs[name], pad)
            inputs[name] = _with_visible_negatives(ids, pad)
    loss, ids = logits_part(model.loss), logits_part(labels)
    if wants_ids(loss) and ids is not None:
        ids = as_ids(ids, model.pad)
        labels = with_logits_part(labels, ids)
    is_per_token = wants_ids(loss) or wants_one_hot(loss)
    of_tokens = logits_part(weights)
    if is_per_token and of_tokens is not None and rank_of(of_tokens) == 1:
        of_tokens = ops.broadcast_to(of_tokens[:, None], ops.shape(ids)[:2])
        weights = with_logits_part(weights, of_tokens)
    return keras.utils.pack_x_y_sample_weight(inputs, labels, weights)


# Keras counts negative ids from the end of an embedding, without an error. In a dataset
# they become larger than any vocabulary, which TensorFlow refuses.
_NEGATIVE = 2**30


def _with_visible_negatives(ids, pad):
    if keras.backend.standardize_dtype(ids.dtype) not in ("int32", "int64"):
        return ids
    return ops.where((ids < 0) & (ids != pad), _NEGATIVE - ids, ids)


# One batch ----------------------------------------------------------------------------


def checked_batch(model, inputs, labels=None, weights=None, is_labelled=False):
    """Return inputs, labels and weights as Keras takes them, or raise an error.

    Args:
        model: a `TokenModel`.
        inputs: dict of ids, `[batch, source]` and `[batch, target]`: arrays, tensors,
            or nested lists.
        labels: for the loss of the model; None: there are none.
        weights: `[batch, target]` or `[batch]`; None: ones.
        is_labelled: whether there must be labels.
    """
    inputs, owner = checked_inputs(model, inputs, labels), type(model).__name__
    if is_labelled:
        check_labelled(model, labels)
    if labels is None:
        return inputs, labels, weights
    loss, ids = logits_part(model.loss), logits_part(labels)
    if wants_one_hot(loss):
        check_not_ids(owner, ids)
    if wants_ids(loss):
        ids = as_ids(ids, model.pad)
        check_labels(model, ids, inputs.get("target"))
        labels = with_logits_part(labels, ids)
    of_tokens = logits_part(weights)
    if of_tokens is not None and (wants_ids(loss) or wants_one_hot(loss)):
        weights = with_logits_part(weights, _token_weights(owner, of_tokens, ids))
    return inputs, labels, weights


def checked_inputs(model, inputs, labels=None):
    """Return the dict of inputs, its ids converted and checked."""
    check_names(model, inputs, labels)
    converted = {}
    for name in model.vocabularies:
        if name in inputs:
            converted[name] = as_ids(inputs[name], pad_of(model, name))
            check_ids(model, name, converted[name])
    check_batch_sizes(type(model).__name__, converted)
    inputs = {**inputs, **converted}
    model.check_masks(inputs)
    return inputs


def _token_weights(owner, weights, labels):
    """Return weights of sentences as weights of their tokens."""
    if isinstance(weights, (list, tuple)):
        weights = np.asarray(weights)
    numbers = as_numpy(weights)
    if numbers is None:
        return weights
    check_weights(owner, numbers, labels)
    if numbers.ndim > 1:
        return weights
    return np.broadcast_to(numbers[:, None], tuple(labels.shape[:2]))


def as_ids(ids, pad):
    """Return ids as an array or a tensor.

    Nested lists and ragged tensors of unequal lengths are padded at the right.
    """
    if isinstance(ids, np.ndarray) and ids.dtype == object:
        ids = ids.tolist()
    if isinstance(ids, (list, tuple)):
        try:
            array = np.asarray(ids)
        except ValueError:  # unequal lengths
            return _padded(ids, pad)
        return array if array.size else array.astype("int32")  # NumPy's are floats
    if is_ragged(ids) and is_integer(ids):
        return ids.to_tensor(pad)
    is_known = ops.is_tensor(ids) or isinstance(ids, (np.ndarray, keras.KerasTensor))
    if hasattr(ids, "__array__") and not is_known and not is_ragged(ids):
        return np.asarray(ids)  # of another library
    return ids


def is_ragged(x):
    """Whether it is a `tf.RaggedTensor`, or the spec of one."""
    return getattr(x, "ragged_rank", None) is not None


def _padded(rows, pad):
    """An array of rows of unequal lengths."""
    rows = [np.asarray(row) for row in rows]
    filled = [row for row in rows if row.size]
    if not filled or any(row.ndim != 1 for row in rows):
        raise four_part_error(
            "Token ids are nested in an unusable way",
            "a list of sentences, each a list of ids",
            f"lists with {sorted({row.ndim + 1 for row in rows})} axes",
            "Pass e.g. [[5, 6, 2], [7, 2]]",
        )
    dtype = np.result_type(*filled)
    if dtype.kind not in "iu":
        return filled[0][None]  # refused for its dtype
    padded = np.full((len(rows), max(row.size for row in rows)), pad, dtype)
    for i, row in enumerate(rows):
        padded[i, : row.size] = row
    return padded


# Errors of a running step -------------------------------------------------------------

_ERRORS = (
    r"indices\[(?P<place>[\d,]+)\] = (?P<id>-?\d+) is not in \[0, (?P<size>\d+)\)",
    r"label value of (?P<id>-?\d+) which is outside the valid range of "
    r"\[0, (?P<size>\d+)\)",
    r"indices\[\d+\] = \[\d+, (?P<id>-?\d+)\] does not index into .*?shape "
    r"\[\d+,(?P<size>\d+)\]",
)


@contextlib.contextmanager
def errors_in_one_line(model, errors):
    """Say in one line what TensorFlow says of data that a step cannot read.

    Args:
        model: a `TokenModel`.
        errors: of batches of a generator, around which TensorFlow puts its own.
    """
    try:
        yield
    except Exception as error:
        if errors:
            raise errors[0] from None
        found = [re.search(pattern, str(error)) for pattern in _ERRORS]
        found = [match for match in found if match is not None]
        is_known = type(error).__name__ == "InvalidArgumentError" and found
        if not is_known or int(found[0]["size"]) not in model.vocabularies.values():
            raise
        number, size = int(found[0]["id"]), int(found[0]["size"])
        number = number if number < _NEGATIVE else _NEGATIVE - number
        names = [n for n, known in model.vocabularies.items() if known == size]
        where = f"in a batch of {' or '.join(names)}"
        owner = type(model).__name__
        pad = pad_of(model, names[0])
        raise out_of_range(owner, number, size, where, pad) from None
