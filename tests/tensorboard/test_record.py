"""What is written for TensorBoard: pictures, the summary op, embeddings."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing import plugin_event_multiplexer as reader
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
from werkzeug.test import Client
from werkzeug.wrappers import Response

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record
from tests.pictures.test_picture import HOSTILE
from tests.tensorboard.logs import random_picture, read, same, spaced


def back(made):
    return record.read(record.content(made), record.record(made))


@pytest.mark.parametrize("heads", [1, 8])
def test_round_trip(heads):
    made = random_picture(heads, score=-1.5, ranking=-0.5, centre=[0, 1, 2, 3], reach=2)
    same(made, back(made), 2.0**-12)


def test_several_hypotheses_and_none_and_weights_that_are_exact():
    weights = np.eye(2, 3)
    several = [hypothesis(*spaced("x"), weights * n, rank=n) for n in range(3)]
    made = picture(*spaced("a", "b"), several, "the reference")
    same(made, back(made))
    nothing = picture(*spaced("a"), [])
    assert back(nothing) == nothing and len(record.record(nothing)) == 1
    weights = np.array([[[np.nan, np.inf, -np.inf], [0.5, 0.25, 1.0]]])
    made = picture(*spaced("a", "b"), [hypothesis(*spaced("x"), weights)])
    found = back(made)["hypotheses"][0]["weights"]
    np.testing.assert_array_equal(found, weights)
    assert found.dtype == "float32"


@pytest.mark.parametrize("word", HOSTILE, ids=lambda word: ascii(word)[:20])
def test_hostile_tokens(word):
    made = picture(*spaced(word), [hypothesis(*spaced(word, "b"), np.eye(3, 2))], word)
    word = word.replace("\ud800", "?")
    said = hypothesis(*spaced(word, "b"), np.eye(3, 2))
    same(picture(*spaced(word), [said], word), back(made))


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
            *("en-de/0", WEIGHTS, SOURCE, TARGET, "Old house"),
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
    spec, traces = tf.TensorSpec, []
    tokens = [spec([None], tf.string)] * 2
    others = [spec([], tf.string), spec([], tf.int64)]

    @tf.function(input_signature=[spec([None, None]), *tokens, *others])
    def step(alignment, source, target, text, number):
        traces.append(1)
        options = {"target_text": text, "step": number}
        with tf.name_scope("validation"):
            return ks.tensorboard.attention("a", alignment, source, target, **options)

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


def test_a_missing_step_and_invalid_utf_8(writer, tmp_path):
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        ks.tensorboard.attention("a", WEIGHTS, SOURCE, TARGET)
    with writer.as_default(step=0):
        ks.tensorboard.attention("a", [[1.0]], [b"\xff"], [b"\xfe"])
    [step] = written(writer, tmp_path)[0]["a"].values()
    assert step["source"] == {"text": "\ufffd", "tokens": [["\ufffd", 0, 1]]}


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_dtypes(dtype, writer, tmp_path):
    with writer.as_default(step=0):
        ks.tensorboard.attention("a", tf.cast(WEIGHTS, dtype), SOURCE, TARGET)
    found = written(writer, tmp_path)[0]["a"][0]["hypotheses"][0]["weights"]
    atol = 2**-7 if dtype == "bfloat16" else 1e-3
    np.testing.assert_allclose(found, WEIGHTS, atol=atol)


SHOWN = {"<pad>": "<pad>", "▁der": "▁der", " ": "␣", "a\tb": "a\\tb", "c\nd": "c\\nd"}
SHOWN |= {"\u2028": "\\u2028", "": "", "<b>&": "<b>&", "🦊": "🦊", "\u202e": "\\u202e"}
LABELS = list(SHOWN)
VECTORS = np.random.default_rng(0).normal(size=(len(LABELS), 3)).astype("float32")


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "validation"
    ks.tensorboard.write_embeddings(folder, VECTORS, LABELS, "source")
    return folder


def test_what_the_projector_gets(run):
    with tf.summary.create_file_writer(str(run)).as_default(step=0):
        tf.summary.scalar("loss", 1.0)
    events = reader.EventMultiplexer().AddRunsFromDirectory(str(run.parent))
    events.Reload()
    provider = MultiplexerDataProvider(events, str(run.parent))
    plugin = ProjectorPlugin(TBContext(data_provider=provider, logdir=str(run.parent)))
    plugin._update_configs()
    apps = plugin.get_plugin_apps()

    def ask(route):
        answer = Client(apps[route], Response).get(query_string=QUERY)
        assert answer.status_code == 200, answer.text
        return answer

    [embedding] = json.loads(ask("/info").text)["embeddings"]
    assert embedding["tensorShape"] == [len(LABELS), 3]
    vectors = np.frombuffer(ask("/tensor").data, "float32").reshape(-1, 3)
    np.testing.assert_allclose(vectors, VECTORS, rtol=1e-5)
    head, *lines = ask("/metadata").text.rstrip("\n").split("\n")
    assert head == "token\tid" and all(line.strip() for line in lines)
    assert lines == [f"{label}\t{i}" for i, label in enumerate(SHOWN.values())]


QUERY = {"run": "validation", "name": "source", "num_rows": 100}


def test_several(run):
    ks.tensorboard.write_embeddings(run, VECTORS[:2], ["a", "b"], "target")
    ks.tensorboard.write_embeddings(run, VECTORS[:1], ["new"], "source")
    config = (run / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 2
    assert (run / "source.metadata.tsv").read_text() == "token\tid\nnew\t0\n"
    assert np.loadtxt(run / "target.tsv").shape == (2, 3)


def test_shared_embedding_is_written_once(tmp_path):
    from keras_seqattn.tensorboard.projector import write_vocabularies
    from tests.translator import tiny

    write_vocabularies(tmp_path, tiny.joint())
    names = sorted(path.name for path in tmp_path.glob("*.tsv"))
    assert names == ["source.metadata.tsv", "source.tsv"]
    ks.tensorboard.write_embeddings(tmp_path, [[np.nan, np.inf]], ["a"], "strange")
    assert (tmp_path / "strange.tsv").read_text() == "nan\tinf\n"
