"""Checks of the data of a `TokenModel`: inputs, labels and weights of one batch."""

import difflib
import warnings

import keras
import numpy as np
from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.losses import SmoothedCrossentropy
from keras_seqattn.models.fit_arguments import logits_part
from keras_seqattn.models.token_outputs import check_named_labels

# Losses of Keras by the form of their labels: ids, and one-hot.
SPARSE = keras.losses.SparseCategoricalCrossentropy
ONE_HOT = keras.losses.CategoricalCrossentropy
LOSS_FUNCTIONS = (
    keras.losses.sparse_categorical_crossentropy,
    keras.losses.categorical_crossentropy,
)
_TEXT = ("str", "bytes", "object")
_ORDER = "Put the inputs first: (inputs, labels)"


def pad_of(model, name):
    """Return the id of the padding of "source", "target" or "labels"."""
    return getattr(model, "source_pad", model.pad) if name == "source" else model.pad


def wants_ids(loss):
    """Whether the labels of a loss are ids `[batch, target]`."""
    return isinstance(loss, (SmoothedCrossentropy, SPARSE)) or loss is LOSS_FUNCTIONS[0]


def wants_one_hot(loss):
    """Whether the labels of a loss are `[batch, target, vocabulary]`."""
    return isinstance(loss, ONE_HOT) or loss is LOSS_FUNCTIONS[1]


def check_ids(model, name, ids):
    """Check the ids of one input; what is symbolic has been checked before."""
    numbers = as_numpy(ids)
    if numbers is not None and name in model.vocabularies:
        owner, size = type(model).__name__, model.vocabularies[name]
        check_spec(owner, name, ids)
        check_range(owner, name, numbers, size, pad_of(model, name))


def check_one_mask(owner, explicit, own):
    """Check that two masks of a source agree; what is symbolic has been checked before.

    Args:
        owner: name for the message.
        explicit: "source_mask" of the inputs, `[batch, source]`, True = real, or None.
        own: the mask of the source embedding, or None.
    """
    if explicit is None or own is None:
        return
    explicit, own = as_numpy(explicit), as_numpy(own)
    if explicit is None or own is None or explicit.shape != own.shape:
        return  # of the shape `check_mask` has more to say
    places = np.argwhere(explicit != own)
    if not len(places):
        return
    place = tuple(places[0].tolist())
    said, known = (("padding", "real")[int(mask[place])] for mask in (explicit, own))
    remedy = "Drop source_mask: the embedding knows its padding"
    if not explicit[place]:
        remedy += "; or, to hide tokens, make the embedding with mask_zero=False"
    if not np.any(explicit & own):
        remedy = "Pass source_mask=ids != pad: True means real"
    raise four_part_error(
        f"{owner} got two masks of its source that disagree",
        "a source_mask that is equal to the mask of the source embedding",
        f"one that says {said} at source{list(place)}, where the embedding says "
        f"{known} ({len(places)} of {own.size} positions differ)",
        remedy,
    )


def check_batch_sizes(owner, inputs):
    """Check that the inputs, a dict, have equally many sentences."""
    counts = {name: ids.shape[0] for name, ids in inputs.items()}
    if len(set(counts.values()) - {None}) > 1:
        raise four_part_error(
            f"{owner} got inputs of different batch sizes",
            "as many targets as sources",
            " and ".join(f"{count} of {name}" for name, count in counts.items()),
            "Check how the sentences are paired",
        )


def check_spec(owner, name, ids):
    """Check dtype and rank of an array, a tensor or a spec; an unknown rank passes."""
    check_dtype(owner, name, ids)
    if rank_of(ids) not in (2, None):
        raise four_part_error(
            f"{owner} got {name} of the wrong rank",
            f"ids [batch, {_axis(name)}]",
            f"shape {tuple(ids.shape)}",
            "Give a single sentence an axis for the batch: ids[None]; a dataset needs "
            "dataset.batch(...)",
        )


def check_names(model, inputs, labels=None):
    """Check that the inputs are a dict with the names of the model."""
    names = model.names_of_inputs
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
    """Check that there are labels, and whether they are in a dict."""
    if model.named_outputs and labels is not None:
        check_named_labels(model, labels)
        labels = logits_part(labels)
    loss = logits_part(model.loss)
    is_known = wants_ids(loss) or wants_one_hot(loss)
    if is_known and (labels is None or isinstance(labels, dict)):
        raise four_part_error(
            f"{type(model).__name__} got unusable labels",
            "an array of labels for the loss",
            "none" if labels is None else f"a dict of {sorted(map(str, labels))}",
            "Pass them after the inputs: (inputs, labels)",
        )


def check_one_hot(owner, labels):
    """Check that labels are not one-hot: `[batch, target, vocabulary]`."""
    if rank_of(labels) == 3 and labels.shape[-1] != 1:
        raise four_part_error(
            f"{owner} got labels with three axes, which look one-hot",
            "the ids of the labels [batch, target]",
            f"shape {tuple(labels.shape)}",
            "Pass labels.argmax(axis=-1)",
        )


def check_not_ids(owner, labels):
    """Check that labels are one-hot, as some losses want them."""
    if hasattr(labels, "shape") and rank_of(labels) == 2:
        raise four_part_error(
            f"{owner} got ids as labels of a loss that wants one-hot labels",
            "labels [batch, target, vocabulary]",
            f"shape {tuple(labels.shape)}",
            'Keep the ids, and pass loss="auto" to compile',
        )


def check_labels(model, labels, target):
    """Check labels that are ids, one for each id of the target inputs."""
    owner, pad, numbers = type(model).__name__, model.pad, as_numpy(labels)
    if numbers is None:
        return
    check_one_hot(owner, labels)
    if numbers.ndim == 3:  # Keras gives single labels an axis
        numbers = numbers[..., 0]
    check_spec(owner, "labels", numbers)
    inputs = None if target is None else as_numpy(target)
    is_read = True
    if inputs is not None:
        _check_same_shape(owner, inputs, numbers)
        is_read = inputs != pad
        _warn_without_shift(owner, inputs, numbers, pad)
    ignored = getattr(logits_part(model.loss), "ignore_class", None)
    if ignored is not None:
        is_read = is_read & (numbers != ignored)
    size = model.vocabularies.get("labels")
    check_range(owner, "labels", numbers, size, pad, is_read)


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


def check_weights(owner, weights, labels):
    """Check that there is a weight for each token, or for each sentence."""
    received, shape = tuple(weights.shape), tuple(labels.shape[:2])
    if received not in (shape, shape[:1], (*shape[:1], 1), (*shape, 1)):
        raise four_part_error(
            f"{owner} got a sample_weight that does not fit its labels",
            f"a weight for each token, {shape}, or for each sentence, {shape[:1]}",
            f"shape {received}",
            "For classes of tokens write sample_weight=weights[labels]",
        )


def check_dtype(owner, name, ids):
    """Check that ids are integers: neither text, nor floats, nor booleans."""
    if is_integer(ids):
        return
    dtype, what = _dtype(ids), name if name == "labels" else f"{name} ids"
    is_text, received = dtype.startswith(_TEXT), f"dtype {dtype}"
    if is_text and getattr(ids, "size", 0):
        received = repr(ids.ravel()[:1].tolist()[0])
    raise four_part_error(
        f"{owner} got {what} that are {'text' if is_text else 'not integers'}",
        f"integers [batch, {_axis(name)}]",
        received,
        "Encode texts first with a text processor, e.g. Words, or put the model into "
        "a Translator, which takes texts"
        if is_text
        else "Pass the ids of a text processor; whole numbers become integers with "
        "ids.astype('int32')",
    )


def check_range(owner, name, ids, size, pad, is_read=True):
    """Check that ids are in the vocabulary.

    Args:
        owner: name for the message.
        name: of the ids.
        ids: integers, a NumPy array.
        size: of the vocabulary; None: it is not known.
        pad: the id of the padding, which may be negative.
        is_read: bool, in the shape of the ids: False where they do not matter.
    """
    if not ids.size or ids.min() >= 0 and (size is None or ids.max() < size):
        return
    is_wrong = (ids < 0) & (ids != pad)
    if size is not None:
        is_wrong |= ids >= size
    places = np.argwhere(is_wrong & is_read)
    if len(places):
        place = tuple(places[0].tolist())
        where = f"at {name}{list(place)}"
        raise out_of_range(owner, int(ids[place]), size, where, pad)


def out_of_range(owner, received, size, where, pad):
    """The error for an id that is not in the vocabulary."""
    is_negative = received < 0
    return four_part_error(
        f"{owner} got {'a negative id' if is_negative else 'an id too large'}",
        "ids of 0 or more" if size is None else f"ids from 0 to {size - 1}",
        f"{received} {where}",
        f"Pad with the id {pad}, and let no other id be negative"
        if is_negative
        else "Encode the texts with the processor that belongs to the model, or build "
        "the model for a larger vocabulary",
    )


def _dtype(x):
    return getattr(x.dtype, "name", str(x.dtype))


def _axis(name):
    return "target" if name == "labels" else name


def is_integer(x):
    """Whether a tensor, an array or a spec holds integers."""
    return _dtype(x).startswith(("int", "uint"))


def rank_of(x):
    """The number of axes of an array, a tensor or a spec; None: it is not known."""
    return x.shape.rank if hasattr(x.shape, "rank") else len(x.shape)


def as_numpy(x):
    """Return the numbers of an array or an eager tensor; None for a symbolic tensor."""
    if isinstance(x, np.ndarray):
        return x
    is_eager = ops.is_tensor(x) and hasattr(x, "numpy")
    return ops.convert_to_numpy(x) if is_eager else None
