"""What others read: exported files, and logs in TensorBoard. All as JSON has it."""

import numpy as np
import werkzeug.test
from tensorboard.backend.application import TensorBoardWSGI
from tensorboard.backend.event_processing import data_provider
from tensorboard.backend.event_processing import plugin_event_multiplexer as events
from tensorboard.plugins.base_plugin import TBContext

from tests.stored import project as ks
from tests.stored.translators import SOURCES, TARGETS, TEXTS


def answers_of(folder):
    """Of all signatures of a SavedModel, whose manifest is checked."""
    ks.verify(folder)
    signatures = ks.ServedModel(folder).signatures
    inputs = {"source": SOURCES, "target": TARGETS, "text": TEXTS}
    return {
        name: _plain(function({key: _array(inputs[key]) for key in function.inputs}))
        for name, function in sorted(signatures.items())
    }


def litert_answers(path):
    """Of a file for devices, which takes one text at a time."""
    translate = ks.litert_function(path)
    return [_plain(translate([text])) for text in TEXTS]


def shown(logs):
    """Everything that the tab "Attention" of TensorBoard asks for."""
    multiplexer = events.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(logs))
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, "logs")
    plugin = ks.SeqAttentionLoader().load(TBContext(data_provider=provider))
    client = werkzeug.test.Client(TensorBoardWSGI([plugin], data_provider=provider))

    def ask(route, **query):
        path = f"/data/plugin/seq_attention/{route}"
        answer = client.get(path, query_string=query)
        assert answer.status_code == 200, answer.text
        return answer.json

    found = {"runs": ask("runs")}
    for run, listed in found["runs"]["runs"].items():
        for sentence in listed["sentences"]:
            tag = sentence["tag"]
            found[tag] = ask("series", run=run, tag=tag)
        for tag in listed["tables"]:
            found[tag] = ask("table", run=run, tag=tag)
    return found


def _array(texts):
    return np.array([text.encode() for text in texts], object)


def _plain(outputs):
    return {name: _values(np.asarray(x)) for name, x in sorted(outputs.items())}


def _values(array):
    if array.dtype == object:
        return np.vectorize(bytes.decode, otypes=[object])(array).tolist()
    if array.dtype.kind == "f":
        return np.round(array.astype("float64"), 6).tolist()
    return array.tolist()
