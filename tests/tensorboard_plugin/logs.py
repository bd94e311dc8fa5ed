"""Writes event files as the write side does, and as it never would."""

import json
import zlib

import numpy as np
import tensorflow as tf

NAME = "seq_attention"
SOURCE = {"text": "ein Haus", "tokens": [["ein", 0, 3], ["▁Haus", 3, 8], ["", 8, 8]]}
REFERENCE = "a house"
GOLD = [[0, 0, "S"], [1, 1, "P"]]


def sentence(**changes):
    """The plugin content of a picture."""
    content = {"version": 1, "kind": "picture", "source": SOURCE}
    return {**content, "reference": REFERENCE, "gold": GOLD, **changes}


TABLE = {"version": 1, "kind": "table"}


def hypothesis(shape=(1, 3, 3), **changes):
    """One of the header's, with a token for each letter that fits."""
    target = shape[1]
    text = "a house"[: target - 1]
    tokens = [[letter, i, i + 1] for i, letter in enumerate(text)]
    return {
        "kind": "free",
        "rank": 0,
        "text": text,
        "score": -1.5,
        "ranking": None,
        "tokens": [*tokens, ["", len(text), len(text)]],
        "shape": list(shape),
        "heads": None,
        "centre": None,
        "reach": None,
        **changes,
    }


def header(*hypotheses, **changes):
    """Of one step, as bytes."""
    record = {"version": 1, "hypotheses": list(hypotheses), "metrics": {"entropy": 0.5}}
    return json.dumps({**record, **changes}).encode()


def packed(weights):
    """As they are written."""
    return zlib.compress(np.asarray(weights, "<f2").tobytes())


def record(weights):
    """A picture with one hypothesis."""
    weights = np.asarray(weights)
    return [header(hypothesis(weights.shape)), packed(weights)]


def weights_at(step, shape=(1, 3, 3)):
    """Some that tell one step from another."""
    return np.random.default_rng(step).uniform(size=shape).astype("float16")


class Log:
    """An event file of one run."""

    def __init__(self, folder):
        self._writer = tf.summary.create_file_writer(str(folder))

    def write(self, tag, content, values, step):
        """A series begins with its first record; content is a dict, or bytes."""
        if isinstance(content, dict):
            content = json.dumps(content).encode()
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = NAME
        metadata.plugin_data.content = content
        metadata.data_class = 2  # DATA_CLASS_TENSOR: without it no loader keeps it
        with self._writer.as_default():
            tf.summary.write(tag, tf.constant(values), step=step, metadata=metadata)

    def picture(self, tag, step, weights=None):
        weights = weights_at(step) if weights is None else weights
        self.write(tag, sentence(), record(weights), step)

    def as_default(self):
        return self._writer.as_default()

    def close(self):
        self._writer.close()
