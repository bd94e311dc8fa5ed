"""The format of pictures in TensorBoard's logs.

Each sentence has a tag. The parts of a picture that never change (source, reference,
gold links) are stored once, as JSON in the content of the tag's metadata. Each step is
a rank-1 string tensor: first the rest of the picture without weights, as JSON, then the
weights of each hypothesis, as little-endian float16.

Each further alignment of a sentence (of a layer, or of self-attention) is a picture
with a tag of its own, so that each can be read alone. Its content also names the tag of
the sentence, the alignment, and what its rows and columns are.

One more tag holds a table: each step is a scalar string, JSON of the metrics of all
sentences by their tags. The data of steps are compressed with zlib.
"""

import json
import zlib

import numpy as np
import tensorflow as tf

from keras_seqattn.pictures.picture import ABOUT, VERSION, dump, packed

PLUGIN = "seq_attention"
_TENSOR = 2  # DATA_CLASS_TENSOR: without it, TensorBoard drops the data
_FIXED = ("source", "reference", "gold")
_SIDES = ("rows", "columns")
_WITH_ALIGNMENTS = 2  # version: a tab of version 1 cannot show them
_FINE = 2.0**11  # 1 / the distance of float16 numbers below 1


def content(picture):
    """Return the parts of a picture that never change, as bytes for the metadata."""
    fixed = {name: picture[name] for name in _FIXED}
    return _bytes({"version": VERSION, "kind": "picture", **fixed})


def alignment_content(picture, tag, name):
    """Return the same for the picture of one of the `alignments` of a picture.

    Args:
        picture: with "rows" and "columns".
        tag: of the sentence.
        name: of the alignment.
    """
    fixed = {key: picture[key] for key in (*_FIXED, *_SIDES)}
    about = {"version": _WITH_ALIGNMENTS, "kind": "alignment", "of": tag, "name": name}
    return _bytes({**about, **fixed})


def table_content():
    """Return the metadata of a table, as bytes."""
    return _bytes({"version": VERSION, "kind": "table"})


def table(rows):
    """Return the metrics of one step, by tag, as bytes."""
    return _packed(_bytes(rows))


def record(picture):
    """Return the data of one step, a list of bytes.

    The weights are rounded to multiples of 2^-11, the precision of float16 near 1. The
    error is at most 2^-12, and this saves a third of the bytes, because most weights
    are close to 0.
    """
    elsewhere = (*_FIXED, *_SIDES, "alignments")
    rest = {name: x for name, x in picture.items() if name not in elsewhere}
    hypotheses = picture["hypotheses"]
    head = _bytes({**rest, "hypotheses": [_bare(item) for item in hypotheses]})
    weights = [np.round(item["weights"] * _FINE) / _FINE for item in hypotheses]
    return [_packed(head), *(_packed(packed(x)) for x in weights)]


def read(content, values):
    """Read the picture of one step.

    Args:
        content: content of the metadata, bytes.
        values: the bytes of `record`.
    """
    fixed, head = json.loads(content), json.loads(zlib.decompress(values[0]))
    for item, data in zip(head["hypotheses"], values[1:], strict=True):
        weights = np.frombuffer(zlib.decompress(data), "<f2").astype("float32")
        item |= dict.fromkeys(ABOUT - item.keys())
        item["weights"] = weights.reshape(item["shape"])
    fixed = {key: fixed[key] for key in (*_FIXED, *_SIDES) if key in fixed}
    return {**head, **fixed}


def add_value(summary, tag, value, content=None, description=None):
    """Add a tag to a `tf.compat.v1.Summary`.

    Args:
        summary: the summary.
        tag: str.
        value: a list of bytes, or bytes.
        content: bytes of the metadata; None: the log already has them.
        description: Markdown, or None.
    """
    added = summary.value.add(tag=tag, tensor=tf.make_tensor_proto(value, tf.string))
    if content is not None:
        added.metadata.plugin_data.plugin_name = PLUGIN
        added.metadata.plugin_data.content = content
        added.metadata.data_class = _TENSOR
        added.metadata.summary_description = description or ""


def _bare(hypothesis):
    """Return a hypothesis without weights and without fields that are None."""
    return {
        name: value
        for name, value in hypothesis.items()
        if name != "weights" and value is not None
    }


def _packed(data):
    return zlib.compress(data, 9)


def _bytes(value):
    return dump(value).encode()
