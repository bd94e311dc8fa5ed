"""Event files as the write side writes them, and as it never would; a fake of them."""

import base64
import json
import zlib

import numpy as np
import tensorflow as tf
import werkzeug.test
from tensorboard.backend.application import TensorBoardWSGI
from tensorboard.data import provider
from tensorboard.plugins.base_plugin import TBContext

from tensorboard_plugin_seqattn.plugin import SeqAttentionLoader

NAME = "seq_attention"
SOURCE = {"text": "ein Haus", "tokens": [["ein", 0, 3], ["▁Haus", 3, 8], ["", 8, 8]]}
REFERENCE = "a house"
GOLD = [[0, 0, "S"], [1, 1, "P"]]


def sentence(**changes):
    content = {"version": 1, "kind": "picture", "source": SOURCE}
    return {**content, "reference": REFERENCE, "gold": GOLD, **changes}


TABLE = {"version": 1, "kind": "table"}


def hypothesis(shape=(1, 3, 3), **changes):
    """One of the header's, with a token for each letter that fits."""
    target = shape[1]
    text = "a house"[: target - 1]
    tokens = [[letter, i, i + 1] for i, letter in enumerate(text)]
    return {
        **{"kind": "free", "rank": 0, "text": text, "score": -1.5, "ranking": None},
        **{"tokens": [*tokens, ["", len(text), len(text)]], "shape": list(shape)},
        **{"heads": None, "centre": None, "reach": None, **changes},
    }


def header(*hypotheses, **changes):
    record = {"version": 1, "hypotheses": list(hypotheses), "metrics": {"entropy": 0.5}}
    return json.dumps({**record, **changes}).encode()


def packed(weights):
    return zlib.compress(np.asarray(weights, "<f2").tobytes())


def record(weights):
    weights = np.asarray(weights)
    return [header(hypothesis(weights.shape)), packed(weights)]


def weights_at(step, shape=(1, 3, 3)):
    """Some that tell one step from another."""
    return np.random.default_rng(step).uniform(size=shape).astype("float16")


def weights_of(step, i=0):
    found = step["hypotheses"][i]
    raw = base64.b64decode(found["weights"])
    return np.frombuffer(raw, "<f2").reshape(found["shape"])


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


ROOT = "/data/plugin/seq_attention"


class FakeProvider:
    """A data provider that holds `{run: {tag: series(...)}}` and counts reads."""

    def __init__(self, runs):
        self.runs, self.read, self.asked = runs, 0, None

    def list_plugins(self, ctx, *, experiment_id):
        return ["seq_attention"] if self.runs else []

    def list_tensors(self, ctx, *, experiment_id, plugin_name, run_tag_filter):
        assert plugin_name == "seq_attention"

        def about(content, steps):
            last = max(step for step, _ in steps)
            about = {"plugin_content": content, "description": "", "display_name": ""}
            return provider.TensorTimeSeries(max_step=last, max_wall_time=7.0, **about)

        return self._chosen(run_tag_filter, about)

    def read_tensors(self, ctx, *, downsample, run_tag_filter, **_):
        self.read, self.asked = self.read + 1, downsample

        def data(content, steps):
            return [provider.TensorDatum(step, 7.0, array) for step, array in steps]

        return self._chosen(run_tag_filter, data)

    def _chosen(self, chosen, make):
        return {
            run: {
                tag: make(*series)
                for tag, series in tags.items()
                if chosen.tags is None or tag in chosen.tags
            }
            for run, tags in self.runs.items()
            if chosen.runs is None or run in chosen.runs
        }


def series(*steps, content=None):
    """A series of a fake; `steps` are `(step, values)`, values bytes or lists of it."""
    content = sentence() if content is None else content
    if isinstance(content, dict):
        content = json.dumps(content).encode()
    return content, [
        (step, x if isinstance(x, np.ndarray) else np.array(x, dtype=object))
        for step, x in steps
    ]


PICTURE = series((0, record(np.full((1, 3, 3), 0.25))))
ROWS = series((0, b'{"p/0": {"entropy": 0.5}}'), content=TABLE)


class Site:
    """Asks a TensorBoard of this plugin only."""

    def __init__(self, runs, hints=None):
        self.provider = FakeProvider(runs)
        context = TBContext(data_provider=self.provider, sampling_hints=hints)
        plugin = SeqAttentionLoader().load(context)
        app = TensorBoardWSGI([plugin], data_provider=self.provider)
        self.client = werkzeug.test.Client(app)

    def ask(self, route, **query):
        return self.client.get(f"{ROOT}/{route}", query_string=query)

    def step(self, route="series", run="r", tag="p/0"):
        answer = self.ask(route, run=run, tag=tag)
        assert answer.status_code == 200, answer.text
        [step] = answer.json["steps"]
        return step
