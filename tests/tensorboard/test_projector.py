"""Embeddings with names, as TensorBoard's own plugin reads them."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import (
    EventMultiplexer,
)
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
from werkzeug.test import Client
from werkzeug.wrappers import Response

import keras_seqattn as ks

SHOWN = {  # by label
    "<pad>": "<pad>",
    "▁der": "▁der",
    " ": "␣",
    "a\tb": "a\\tb",
    "c\nd": "c\\nd",
    "\u2028": "\\u2028",
    "": "",
    "<b>&": "<b>&",
    "🦊": "🦊",
    "\u202e": "\\u202e",
}
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
    events = EventMultiplexer().AddRunsFromDirectory(str(run.parent))
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
    assert sorted(path.name for path in tmp_path.glob("*.tsv")) == [
        "source.metadata.tsv",
        "source.tsv",
    ]


def test_numbers_that_are_none(tmp_path):
    ks.tensorboard.write_embeddings(tmp_path, [[np.nan, np.inf]], ["a"], "strange")
    assert (tmp_path / "strange.tsv").read_text() == "nan\tinf\n"
