"""Token ids as users pass them: converted to arrays, and checked."""

import keras
import numpy as np
from keras import ops

from keras_seqattn.errors import four_part_error

_TEXT = ("str", "bytes", "object")


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


def is_integer(x):
    """Whether a tensor, an array or a spec holds integers."""
    return _dtype(x).startswith(("int", "uint"))


def as_numpy(x):
    """Return the numbers of an array or an eager tensor; None for a symbolic tensor."""
    if isinstance(x, np.ndarray):
        return x
    is_eager = ops.is_tensor(x) and hasattr(x, "numpy")
    return ops.convert_to_numpy(x) if is_eager else None


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


def check_shape(owner, name, ids):
    """Check that ids have two axes; a rank that is not known passes."""
    if rank_of(ids) not in (2, None):
        raise four_part_error(
            f"{owner} got {name} of the wrong rank",
            f"ids [batch, {_axis(name)}]",
            f"shape {tuple(ids.shape)}",
            "Give a single sentence an axis for the batch: ids[None]; a dataset needs "
            "dataset.batch(...)",
        )


def rank_of(x):
    """The number of axes of an array, a tensor or a spec; None: it is not known."""
    return x.shape.rank if hasattr(x.shape, "rank") else len(x.shape)


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
