"""The plugin in a TensorBoard without a log: what is in it is said by the test."""

import json

import numpy as np
import werkzeug.test
from tensorboard.backend.application import TensorBoardWSGI
from tensorboard.data import provider
from tensorboard.plugins.base_plugin import TBContext

from tensorboard_plugin_seqattn.plugin import SeqAttentionLoader
from tests.tensorboard_plugin.logs import TABLE, record, sentence

ROOT = "/data/plugin/seq_attention"


class FakeProvider:
    """A data provider that holds `{run: {tag: series(...)}}` and counts reads."""

    def __init__(self, runs):
        self.runs, self.read, self.asked = runs, 0, None

    def list_plugins(self, ctx, *, experiment_id):
        return ["seq_attention"] if self.runs else []

    def list_tensors(self, ctx, *, experiment_id, plugin_name, run_tag_filter):
        assert plugin_name == "seq_attention"
        return self._chosen(
            run_tag_filter,
            lambda content, steps: provider.TensorTimeSeries(
                max_step=max(step for step, _ in steps),
                max_wall_time=7.0,
                plugin_content=content,
                description="",
                display_name="",
            ),
        )

    def read_tensors(
        self, ctx, *, experiment_id, plugin_name, downsample, run_tag_filter
    ):
        self.read += 1
        self.asked = downsample
        return self._chosen(
            run_tag_filter,
            lambda content, steps: [
                provider.TensorDatum(step, 7.0, array) for step, array in steps
            ],
        )

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
    return content, [(step, _array(values)) for step, values in steps]


def _array(values):
    is_array = isinstance(values, np.ndarray)
    return values if is_array else np.array(values, dtype=object)


PICTURE = series((0, record(np.full((1, 3, 3), 0.25))))
ROWS = series((0, b'{"p/0": {"entropy": 0.5}}'), content=TABLE)


class Site:
    """Asks a TensorBoard of this plugin only."""

    def __init__(self, runs, hints=None):
        self.provider = FakeProvider(runs)
        context = TBContext(data_provider=self.provider, sampling_hints=hints)
        plugin = SeqAttentionLoader().load(context)
        self.client = werkzeug.test.Client(
            TensorBoardWSGI([plugin], data_provider=self.provider)
        )

    def ask(self, route, **query):
        return self.client.get(f"{ROOT}/{route}", query_string=query)

    def step(self, route="series", run="r", tag="p/0"):
        """The only step of a series."""
        answer = self.ask(route, run=run, tag=tag)
        assert answer.status_code == 200, answer.text
        [step] = answer.json["steps"]
        return step
