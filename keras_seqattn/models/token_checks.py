"""Checks of the data of a `TokenModel`: inputs, labels and weights of one batch."""

import difflib
import warnings

import keras
import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.losses import SmoothedCrossentropy
from keras_seqattn.models import token_ids

# Losses of Keras by the form of their labels: ids, and one-hot.
SPARSE = keras.losses.SparseCategoricalCrossentropy
ONE_HOT = keras.losses.CategoricalCrossentropy
LOSS_FUNCTIONS = (
    keras.losses.sparse_categorical_crossentropy,
    keras.losses.categorical_crossentropy,
)
_ORDER = "Put the inputs first: (inputs, labels)"


def wants_ids(loss):
    """Whether the labels of a loss are ids `[batch, target]`."""
    return isinstance(loss, (SmoothedCrossentropy, SPARSE)) or loss is LOSS_FUNCTIONS[0]


def wants_one_hot(loss):
    """Whether the labels of a loss are `[batch, target, vocabulary]`."""
    return isinstance(loss, ONE_HOT) or loss is LOSS_FUNCTIONS[1]


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
    inputs = checked_inputs(model, inputs, labels)
    if is_labelled:
        check_labelled(model, labels)
    if labels is None:
        return inputs, labels, weights
    if wants_one_hot(model.loss):
        check_not_ids(type(model).__name__, labels)
    if wants_ids(model.loss):
        labels = _checked_labels(model, labels, inputs.get("target"))
    if weights is not None and (wants_ids(model.loss) or wants_one_hot(model.loss)):
        weights = _token_weights(type(model).__name__, weights, labels)
    return inputs, labels, weights


def checked_inputs(model, inputs, labels=None):
    """Return the dict of inputs, its ids converted and checked."""
    check_names(model, inputs, labels)
    checked = dict(inputs)
    names = [name for name in model.vocabularies if name in inputs]
    for name in names:
        checked[name] = checked_ids(model, name, inputs[name])
    counts = {name: checked[name].shape[0] for name in names}
    if len(set(counts.values()) - {None}) > 1:
        raise four_part_error(
            f"{type(model).__name__} got inputs of different batch sizes",
            "as many targets as sources",
            " and ".join(f"{count} of {name}" for name, count in counts.items()),
            "Check how the sentences are paired",
        )
    return checked


def checked_ids(model, name, ids):
    """Return the ids of one input, converted and checked."""
    owner, ids = type(model).__name__, token_ids.as_ids(ids, model.pad)
    numbers = token_ids.as_numpy(ids)
    if numbers is not None:  # what is symbolic has been checked before
        check_spec(owner, name, ids)
        size = model.vocabularies[name]
        token_ids.check_range(owner, name, numbers, size, model.pad)
    return ids


def check_spec(owner, name, ids):
    """Check dtype and rank of an array, a tensor, or the spec of one."""
    token_ids.check_dtype(owner, name, ids)
    token_ids.check_shape(owner, name, ids)


def check_names(model, inputs, labels=None):
    """Check that the inputs are a dict with the names of the model."""
    names = [name for name in model.vocabularies if name != "labels"]
    is_dict = isinstance(inputs, dict)
    if is_dict and all(inputs.get(name) is not None for name in names):
        return
    example = ", ".join(f'"{name}": {name}' for name in names)
    remedy = f"Pass the dict {{{example}}}"
    if is_dict:
        received = [str(name) for name in inputs if inputs[name] is not None]
        if received == ["source"]:
            remedy += "; to translate a source, call decode"
        for name in [name for name in names if name not in received]:
            near = difflib.get_close_matches(name, received, n=1)
            remedy += f"; {near[0]!r} seems to be {name!r}" if near else ""
    else:
        shape = getattr(inputs, "shape", None)
        received = type(inputs).__name__ + (f" of shape {shape}" if shape else "")
        if isinstance(labels, dict):
            remedy = _ORDER
    expected = " and ".join(f"{name!r} [batch, {name}]" for name in names)
    raise four_part_error(
        f"{type(model).__name__} got unusable inputs",
        f"a dict with the ids {expected}",
        received,
        remedy,
    )


def check_not_pairs(owner, data):
    """Check that data are not pairs of texts, nor pairs that are only encoded."""
    if hasattr(data, "source") and hasattr(data, "target"):
        raise four_part_error(
            f"{owner} got pairs instead of a dataset",
            "batches of ids",
            abbreviated(data),
            "Pass translator.dataset(pairs, batch_size=64), or for EncodedPairs "
            "data.batches(encoded, batch_size=64)",
        )


def check_labelled(model, labels):
    """Check that there are labels, and that they are not in a dict."""
    is_known = wants_ids(model.loss) or wants_one_hot(model.loss)
    if is_known and (labels is None or isinstance(labels, dict)):
        raise four_part_error(
            f"{type(model).__name__} got unusable labels",
            "an array of labels for the loss",
            "none" if labels is None else f"a dict of {sorted(map(str, labels))}",
            "Pass them after the inputs: (inputs, labels)",
        )


def check_one_hot(owner, labels):
    """Check that labels are not one-hot: `[batch, target, vocabulary]`."""
    if token_ids.rank_of(labels) == 3 and labels.shape[-1] != 1:
        raise four_part_error(
            f"{owner} got labels with three axes, which look one-hot",
            "the ids of the labels [batch, target]",
            f"shape {tuple(labels.shape)}",
            "Pass labels.argmax(axis=-1)",
        )


def check_not_ids(owner, labels):
    """Check that labels are one-hot, as some losses want them."""
    if hasattr(labels, "shape") and token_ids.rank_of(labels) == 2:
        raise four_part_error(
            f"{owner} got ids as labels of a loss that wants one-hot labels",
            "labels [batch, target, vocabulary]",
            f"shape {tuple(labels.shape)}",
            'Keep the ids, and pass loss="auto" to compile',
        )


def _checked_labels(model, labels, target):
    owner, pad = type(model).__name__, model.pad
    labels = token_ids.as_ids(labels, pad)
    numbers = token_ids.as_numpy(labels)
    if numbers is None:
        return labels
    check_one_hot(owner, labels)
    if numbers.ndim == 3:  # Keras gives single labels an axis
        numbers = numbers[..., 0]
    check_spec(owner, "labels", numbers)
    inputs = None if target is None else token_ids.as_numpy(target)
    is_read = True
    if inputs is not None:
        _check_same_shape(owner, inputs, numbers)
        is_read = inputs != pad
        _warn_without_shift(owner, inputs, numbers, pad)
    ignored = getattr(model.loss, "ignore_class", None)
    if ignored is not None:
        is_read = is_read & (numbers != ignored)
    size = model.vocabularies.get("labels")
    token_ids.check_range(owner, "labels", numbers, size, pad, is_read)
    return labels


def _check_same_shape(owner, target, labels):
    if target.shape != labels.shape:
        raise four_part_error(
            f"{owner} got labels of another shape than its target inputs",
            f"a label for each target input, shape {target.shape}",
            f"shape {labels.shape}",
            "Shift once: with ids from the start to the end token, "
            "target=ids[:, :-1], labels=ids[:, 1:]",
        )


def _warn_without_shift(owner, target, labels, pad):
    """Warn if each label is its own input, which the model then only copies."""
    if not np.array_equal(target, labels) or len(np.unique(labels[labels != pad])) < 2:
        return
    warnings.warn(
        four_parts(
            f"{owner} got labels that equal its target inputs",
            "target inputs that begin with the start token and lack the end token",
            "inputs and labels that are the same",
            "Shift them: with ids from the start to the end token, "
            "target=ids[:, :-1], labels=ids[:, 1:]",
        ),
        stacklevel=8,  # the caller of `fit`
    )


def _token_weights(owner, weights, labels):
    """Return weights of sentences as weights of their tokens."""
    if isinstance(weights, (list, tuple)):
        weights = np.asarray(weights)
    numbers, shape = token_ids.as_numpy(weights), tuple(labels.shape[:2])
    if numbers is None:
        return weights
    if numbers.shape not in (shape, shape[:1], (*shape[:1], 1), (*shape, 1)):
        raise four_part_error(
            f"{owner} got a sample_weight that does not fit its labels",
            f"a weight for each token, {shape}, or for each sentence, {shape[:1]}",
            f"shape {numbers.shape}",
            "For classes of tokens write sample_weight=weights[labels]",
        )
    return np.broadcast_to(numbers[:, None], shape) if numbers.ndim == 1 else weights
