"""A picture in a log, as TensorBoard reads it.

One tag for each sentence. What never changes of a picture (the source, the reference,
the gold links) stands once, as JSON in the content of the tag's metadata. Each step is
a rank-1 string tensor: first the rest of the picture without weights, as JSON, then for
each hypothesis its weights, little-endian float16. One tag more holds a table: each
step a scalar string, JSON of the metrics of all sentences by their tags. What belongs
to a step is in zlib.
"""

import json
import zlib

import numpy as np
import tensorflow as tf

from keras_seqattn.pictures.picture import ABOUT, VERSION, dump, packed

PLUGIN = "seq_attention"
_TENSOR = 2  # DATA_CLASS_TENSOR: without it, TensorBoard drops the data
_FIXED = ("source", "reference", "gold")
_FINE = 2.0**11  # one over the distance of float16 numbers at 1


def content(picture):
    """What never changes, as bytes for the metadata."""
    fixed = {name: picture[name] for name in _FIXED}
    return _bytes({"version": VERSION, "kind": "picture", **fixed})


def table_content():
    """The metadata of a table, as bytes."""
    return _bytes({"version": VERSION, "kind": "table"})


def table(rows):
    """The metrics of one step, by tag, as bytes."""
    return _packed(_bytes(rows))


def record(picture):
    """What belongs to one step, a list of bytes.

    The weights are rounded to what float16 can tell apart at 1: the error is at most
    2^-12, and a third of the bytes are saved, most weights being next to nothing.
    """
    rest = {name: x for name, x in picture.items() if name not in _FIXED}
    hypotheses = picture["hypotheses"]
    head = _bytes({**rest, "hypotheses": [_bare(found) for found in hypotheses]})
    weights = [np.round(found["weights"] * _FINE) / _FINE for found in hypotheses]
    return [_packed(head), *(_packed(packed(x)) for x in weights)]


def read(content, values):
    """The picture of one step.

    Args:
        content: of the metadata, bytes.
        values: the bytes of `record`.
    """
    fixed, head = json.loads(content), json.loads(zlib.decompress(values[0]))
    for found, data in zip(head["hypotheses"], values[1:], strict=True):
        weights = np.frombuffer(zlib.decompress(data), "<f2").astype("float32")
        found |= dict.fromkeys(ABOUT - found.keys())
        found["weights"] = weights.reshape(found["shape"])
    return {**head, **{name: fixed[name] for name in _FIXED}}


def add_value(summary, tag, value, content=None, description=None):
    """Adds a tag to a `tf.compat.v1.Summary`.

    Args:
        summary: the summary.
        tag: str.
        value: a list of bytes, or bytes.
        content: bytes of the metadata; None: the log has them already.
        description: Markdown, or None.
    """
    added = summary.value.add(tag=tag, tensor=tf.make_tensor_proto(value, tf.string))
    if content is not None:
        added.metadata.plugin_data.plugin_name = PLUGIN
        added.metadata.plugin_data.content = content
        added.metadata.data_class = _TENSOR
        added.metadata.summary_description = description or ""


def _bare(hypothesis):
    """Without weights, and without what it does not have."""
    return {
        name: value
        for name, value in hypothesis.items()
        if name != "weights" and value is not None
    }


def _packed(data):
    return zlib.compress(data, 9)


def _bytes(value):
    return dump(value).encode()
