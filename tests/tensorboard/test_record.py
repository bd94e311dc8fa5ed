"""Pictures in a log and back."""

import json
import zlib

import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record
from tests.pictures.test_picture import HOSTILE
from tests.tensorboard.logs import random_picture, same, spaced


def back(made):
    return record.read(record.content(made), record.record(made))


@pytest.mark.parametrize("heads", [1, 8])
def test_round_trip(heads):
    made = random_picture(heads, score=-1.5, ranking=-0.5, centre=[0, 1, 2, 3], reach=2)
    same(made, back(made), 2.0**-12)


def test_several_hypotheses_and_none():
    weights = np.eye(2, 3)
    several = [hypothesis(*spaced("x"), weights * n, rank=n) for n in range(3)]
    same(*[picture(*spaced("a", "b"), several)] * 2)
    made = picture(*spaced("a", "b"), several, "the reference")
    same(made, back(made))
    nothing = picture(*spaced("a"), [])
    assert back(nothing) == nothing and len(record.record(nothing)) == 1


def test_weights_are_exact_where_they_are_sharp():
    weights = np.array([[[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]]])
    made = picture(*spaced("a", "b"), [hypothesis(*spaced("x"), weights)])
    np.testing.assert_array_equal(back(made)["hypotheses"][0]["weights"], weights)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_strange_weights(value):
    weights = np.full((2, 3), value)
    made = picture(*spaced("a", "b"), [hypothesis(*spaced("x"), weights)])
    found = back(made)["hypotheses"][0]["weights"]
    np.testing.assert_array_equal(found, weights[None])
    assert found.dtype == "float32"


@pytest.mark.parametrize("word", HOSTILE, ids=lambda word: ascii(word)[:20])
def test_hostile_tokens(word):
    made = picture(*spaced(word), [hypothesis(*spaced(word, "b"), np.eye(3, 2))], word)
    word = word.replace("\ud800", "?")
    expected = picture(
        *spaced(word), [hypothesis(*spaced(word, "b"), np.eye(3, 2))], word
    )
    same(expected, back(made))


def test_what_changes_and_what_does_not():
    content = json.loads(record.content(random_picture()))
    head = json.loads(zlib.decompress(record.record(random_picture())[0]))
    assert set(content) == {"version", "kind", "source", "reference", "gold"}
    assert content["version"] == head["version"] == 1 and content["kind"] == "picture"
    assert set(head) == {"version", "hypotheses", "metrics"}
    assert "weights" not in head["hypotheses"][0]
    assert json.loads(record.table_content()) == {"version": 1, "kind": "table"}


def test_value():
    summary, data = tf.compat.v1.Summary(), [b"{}", b"ends in nothing\0\0"]
    record.add_value(summary, "en-de/007", data, b"content", "**said**")
    record.add_value(summary, "en-de/007", data)
    first, later = tf.compat.v1.Summary.FromString(summary.SerializeToString()).value
    assert tf.make_ndarray(first.tensor).tolist() == data
    assert first.tensor.tensor_shape.dim[0].size == 2
    assert first.metadata.plugin_data.plugin_name == "seq_attention"
    assert first.metadata.plugin_data.content == b"content"
    assert first.metadata.data_class == 2  # a tensor
    assert first.metadata.summary_description == "**said**"
    assert not later.HasField("metadata")


def test_size():
    """200 sentences of 30 tokens, 100 times: not above 40 MB, with 60 for the frame."""
    words = [f"▁{i:05d}" for i in range(29)]
    far = np.abs(np.arange(30)[:, None] - np.arange(30))
    scores = np.random.default_rng(0).normal(0, 1, (30, 30)) - far
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    made = picture(*spaced(*words), [hypothesis(*spaced(*words), weights)], "reference")
    in_table = len(f"attention/000:{made['metrics']}")
    assert sum(map(len, record.record(made))) + in_table + 60 < 2_000
