"""Reading of event files, a picture to write, and translators for the callback."""

import json
import zlib

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record
from tests.translator import tiny


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
        if json.loads(content)["kind"] == "table":
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
    pairs = zip(one["hypotheses"], other["hypotheses"], strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a["weights"], b["weights"], rtol=0, atol=tolerance)
    assert bare(one) == bare(other)


def bare(picture):
    hypotheses = [{**h, "weights": None} for h in picture["hypotheses"]]
    return {**picture, "hypotheses": hypotheses}


SENTENCES, REFERENCES = tiny.SOURCES[:3], tiny.TARGETS[:3]


def compiled(attention=None, search=None, **optimizer):
    options = {} if search is None else {"search": search}
    made = tiny.translator(*tiny.texts(), attention=attention, **options)
    optimizer = keras.optimizers.Adam(0.05, **optimizer)
    made.model.compile(optimizer, ks.losses.SmoothedCrossentropy())
    return made


def fit(translator, *callbacks, epochs=3, **options):
    """Trains on the seven sentences of `tiny`, three batches in an epoch."""
    dataset = translator.dataset(tiny.PAIRS, batch_size=3, shuffle=False)
    options = {"verbose": 0, "epochs": epochs, "shuffle": False, **options}
    options |= {"validation_data": dataset, "callbacks": list(callbacks)}
    return translator.model.fit(dataset, **options)


class FixedProbe:
    """A stand-in for a probe: it returns pictures or raises, and counts calls."""

    def __init__(self, *pictures, error=None):
        self.made, self.error, self.count = list(pictures), error, 0

    def pictures(self):
        self.count += 1
        if self.error is not None:
            raise self.error
        return self.made
