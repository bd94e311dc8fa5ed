"""The summary op for custom training loops: when it writes, and what it writes."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.tensorboard.logs import read

SOURCE, TARGET = ["▁old", "▁hou", "se", "</s>"], ["Haus", "</s>"]
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(4), (2, 2)).astype("float32")


@pytest.fixture
def writer(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    yield writer
    writer.close()


def written(writer, folder):
    writer.flush()
    return read(folder)


def test_eager(writer, tmp_path):
    with writer.as_default(step=4):
        said = ks.tensorboard.attention(
            "en-de/0",
            WEIGHTS,
            SOURCE,
            TARGET,
            source_text="Old house",
            heads=["first", "second"],
            description="*old* houses",
        )
        assert said.dtype == tf.bool and bool(said)
        ks.tensorboard.attention("en-de/0", WEIGHTS[0], SOURCE, TARGET, step=7)
    pictures, metadata = written(writer, tmp_path)
    one, other = pictures["en-de/0"][4], pictures["en-de/0"][7]
    assert one["source"]["text"] == "Old house"
    places = [token[1:] for token in one["source"]["tokens"]]
    assert places == [[0, 3], [4, 7], [7, 9], [9, 9]]
    [said] = one["hypotheses"]
    assert said["text"] == "Haus" and said["heads"] == ["first", "second"]
    assert said["tokens"] == [["Haus", 0, 4], ["</s>", 4, 4]]
    np.testing.assert_allclose(said["weights"], WEIGHTS, atol=2**-12)
    [said] = other["hypotheses"]
    np.testing.assert_allclose(said["weights"], WEIGHTS[:1], atol=2**-12)
    assert metadata["en-de/0"].summary_description == "*old* houses"


def test_in_a_function(writer, tmp_path):
    """Tokens and lengths may be tensors, and one graph serves all."""
    traces = []

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None]),
            tf.TensorSpec([None], tf.string),
            tf.TensorSpec([None], tf.string),
            tf.TensorSpec([], tf.string),
            tf.TensorSpec([], tf.int64),
        ]
    )
    def step(alignment, source, target, text, number):
        traces.append(1)
        with tf.name_scope("validation"):
            return ks.tensorboard.attention(
                "a", alignment, source, target, target_text=text, step=number
            )

    with writer.as_default():
        assert step(WEIGHTS[0], SOURCE, TARGET, " Haus", 1)
        assert step(WEIGHTS[1][:1, :2], SOURCE[:2], ["Haus"], "Haus", 2)
    pictures = written(writer, tmp_path)[0]["validation/a"]
    assert pictures[1]["hypotheses"][0]["tokens"][0] == ["Haus", 1, 5]
    found = pictures[2]["hypotheses"][0]
    np.testing.assert_allclose(found["weights"][0], WEIGHTS[1][:1, :2], atol=2**-12)
    assert len(traces) == 1


def test_does_nothing_where_nothing_is_recorded(writer, tmp_path, monkeypatch):
    def never(*args):
        raise RuntimeError("it was computed")

    monkeypatch.setattr("keras_seqattn.tensorboard.summary.picture", never)

    def attention(**options):
        return ks.tensorboard.attention("a", WEIGHTS, SOURCE, TARGET, **options)

    assert not attention() and not attention(step=1)
    assert not tf.function(attention)()
    with writer.as_default(), tf.summary.record_if(False):
        assert not attention(step=1) and not tf.function(attention)(step=1)
    assert written(writer, tmp_path)[0] == {}
    with writer.as_default(), pytest.raises(RuntimeError, match="it was computed"):
        attention(step=1)


def test_condition_in_the_graph(writer, tmp_path):
    with writer.as_default():
        step = tf.Variable(0, dtype=tf.int64)

        @tf.function
        def train():
            with tf.summary.record_if(step % 2 == 0):
                said = ks.tensorboard.attention("a", WEIGHTS, SOURCE, TARGET, step=step)
            step.assign_add(1)
            return said

        assert [bool(train()) for _ in range(4)] == [True, False, True, False]
    assert set(written(writer, tmp_path)[0]["a"]) == {0, 2}


def test_step_is_missing(writer):
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        ks.tensorboard.attention("a", WEIGHTS, SOURCE, TARGET)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_dtypes(dtype, writer, tmp_path):
    with writer.as_default(step=0):
        ks.tensorboard.attention("a", tf.cast(WEIGHTS, dtype), SOURCE, TARGET)
    found = written(writer, tmp_path)[0]["a"][0]["hypotheses"][0]["weights"]
    atol = 2**-7 if dtype == "bfloat16" else 1e-3
    np.testing.assert_allclose(found, WEIGHTS, atol=atol)


def test_invalid_utf_8(writer, tmp_path):
    with writer.as_default(step=0):
        ks.tensorboard.attention("a", [[1.0]], [b"\xff"], [b"\xfe"])
    [step] = written(writer, tmp_path)[0]["a"].values()
    assert step["source"] == {"text": "\ufffd", "tokens": [["\ufffd", 0, 1]]}
