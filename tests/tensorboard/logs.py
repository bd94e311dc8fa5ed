"""Reading of event files, and a picture to write."""

import json
import zlib

import numpy as np
import tensorflow as tf

from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record


def values(folder):
    """`(step, value)` of all summaries below a folder, file by file."""
    for path in sorted(folder.rglob("events.*")):
        for data in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(data)
            for value in event.summary.value:
                yield event.step, value


def read(folder):
    """Pictures and tables, `{tag: {step: ...}}`, and their metadata by tag."""
    found, metadata = {}, {}
    for step, value in values(folder):
        if value.metadata.plugin_data.plugin_name == record.PLUGIN:
            metadata.setdefault(value.tag, value.metadata)
        if value.tag not in metadata:
            continue
        content = metadata[value.tag].plugin_data.content
        tensor = tf.make_ndarray(value.tensor)
        is_table = json.loads(content)["kind"] == "table"
        if is_table:
            what = json.loads(zlib.decompress(tensor.item()))
        else:
            what = record.read(content, tensor)
        found.setdefault(value.tag, {})[step] = what
    return found, metadata


def spaced(*words):
    """A text and its tokens, words between spaces and the end token."""
    tokens, at = [], 0
    for word in words:
        tokens.append([word, at, at + len(word)])
        at += len(word) + 1
    text = " ".join(words)
    return text, [*tokens, ["</s>", len(text), len(text)]]


def random_picture(heads=1, seed=0, **about):
    """Of a source of two words and a hypothesis of three, with end tokens."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(3), (heads, 4))
    said = hypothesis(*spaced("ein", "altes", "Haus"), weights, **about)
    return picture(*spaced("old", "house"), [said])


def same(one, other, tolerance=1e-3):
    """Whether pictures are equal, weights nearly."""
    pairs = zip(one["hypotheses"], other["hypotheses"], strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a["weights"], b["weights"], rtol=0, atol=tolerance)
    assert bare(one) == bare(other)


def bare(picture):
    hypotheses = [{**h, "weights": None} for h in picture["hypotheses"]]
    return {**picture, "hypotheses": hypotheses}
