"""The plugin in a TensorBoard whose data the test makes up, or the library writes."""

import argparse
import importlib.metadata
import json

import numpy as np
import pytest
import werkzeug.test
from tensorboard.plugins.base_plugin import FrontendMetadata, TBContext

from keras_seqattn.metrics.alignment_error import GoldLinks
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record
from tensorboard_plugin_seqattn import static
from tensorboard_plugin_seqattn.plugin import SeqAttentionLoader
from tensorboard_plugin_seqattn.request import json_app
from tests.raised import check_message
from tests.tensorboard_plugin import logs
from tests.tensorboard_plugin.logs import PICTURE, ROOT, Site, series
from tests.tensorboard_plugin.stage import STATIC, TYPES


def test_entry_point_is_installed():
    points = importlib.metadata.entry_points(group="tensorboard_plugins")
    ours = [point.load() for point in points if point.name == "seq_attention"]
    assert ours == [SeqAttentionLoader], "install the project again: make install"


@pytest.mark.parametrize("given, kept", [({}, 500), ({"seq_attention": 0}, 0)])
def test_keeps_more_steps_unless_the_user_says_how_many(given, kept):
    flags = argparse.Namespace(samples_per_plugin={"images": 3, **given})
    SeqAttentionLoader().fix_flags(flags)
    assert flags.samples_per_plugin == {"images": 3, "seq_attention": kept}


@pytest.mark.parametrize("runs", [{}, {"r": {"p/0": PICTURE}}])
def test_tab_is_there_when_there_is_data(runs):
    listed = Site(runs).client.get("/data/plugins_listing").json["seq_attention"]
    assert listed["tab_name"] == "Attention"
    assert listed["enabled"] is bool(runs)
    module = {"type": "IFRAME", "module_path": f"{ROOT}/index.js"}
    assert listed["loading_mechanism"] == module


def test_loading_asks_nothing_of_the_log():
    assert SeqAttentionLoader().load(TBContext()) is None  # no data provider, no tab
    # FakeProvider(None) cannot answer anything.
    context = TBContext(data_provider=logs.FakeProvider(None), sampling_hints=None)
    plugin = SeqAttentionLoader().load(context)
    assert plugin.get_plugin_apps()
    assert plugin.is_active() is False
    assert plugin.data_plugin_names() == ("seq_attention",)
    assert isinstance(plugin.frontend_metadata(), FrontendMetadata)


def test_serves_the_files_of_the_folder_and_nothing_else(tmp_path, monkeypatch):
    client = Site({}).client
    for file in STATIC.iterdir():
        answer = client.get(f"{ROOT}/{file.name}")
        assert answer.data == file.read_bytes()
        assert answer.headers["Content-Type"] == f"{TYPES[file.suffix]}; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    (tmp_path / "static" / "deeper.js").mkdir(parents=True)
    for name in ("index.js", "a.css", "b.svg", "notes.md", "c.js.map", "secret"):
        (tmp_path / "static" / name).write_text(name)
    (tmp_path / "outside.js").write_text("outside")
    monkeypatch.setattr(static.importlib.resources, "files", lambda _: tmp_path)
    assert static.static_files() == {
        "/index.js": (b"index.js", "text/javascript"),
        "/a.css": (b"a.css", "text/css"),
        "/b.svg": (b"b.svg", "image/svg+xml"),
    }
    client = Site({}).client
    for name in ("notes.md", "secret", "deeper.js", "../outside.js", "..%2Foutside.js"):
        assert client.get(f"{ROOT}/{name}").status_code == 404
    # An upgrade below a running TensorBoard gives no page of old and new parts.
    (tmp_path / "static" / "index.js").unlink()
    assert client.get(f"{ROOT}/index.js").data == b"index.js"


ALL = 2**31 - 1
RUNS = {"b/validation": {"p/1": PICTURE, "p/0": PICTURE, "p/table": logs.ROWS}, "a": {}}


def test_runs_lists_and_reads_nothing():
    site = Site(RUNS)
    sentences = [{"tag": tag, "text": "ein Haus", "last": 0} for tag in ("p/0", "p/1")]
    runs = {"b/validation": {"sentences": sentences, "tables": ["p/table"]}}
    runs["a"] = {"sentences": [], "tables": []}
    assert site.ask("runs").json == {"runs": runs}
    assert site.provider.read == 0
    assert Site({}).ask("runs").json == {"runs": {}}


def a_picture(step):
    arrays = [logs.weights_at(seed, (2, 3, 3)) for seed in (step, step + 10)]
    source = [["ein", 0, 3], ["▁Haus", 3, 8], ["</s>", 8, 8]]
    target = [["▁a", 0, 1], ["▁house", 1, 7], ["</s>", 7, 7]]
    about = {"kind": "forced", "centre": [0, 1.5, 2], "reach": 2.0}
    hypotheses = [
        hypothesis("a house", target, arrays[0], score=-1.25, heads=["a", "b"]),
        hypothesis("a house", target, arrays[1], **about),
    ]
    gold = GoldLinks(sure={(0, 0)}, possible={(0, 0), (1, 1)})
    return picture("ein Haus", source, hypotheses, "a house", gold)


def test_written_pictures_without_reference_or_gold_too_and_tables():
    pictures = [a_picture(step) for step in range(2)]
    steps = [(step, record.record(made)) for step, made in enumerate(pictures)]
    runs = {"r": {"p/0": series(*steps, content=record.content(pictures[0]))}}
    answer = Site(runs).ask("series", run="r", tag="p/0").json
    for made, step in zip(pictures, answer.pop("steps"), strict=True):
        del step["step"], step["wall_time"], made["version"]
        for i, read in enumerate(step["hypotheses"]):
            written, weights = made["hypotheses"][i], logs.weights_of(step, i)
            assert read.pop("weights")
            np.testing.assert_allclose(weights, written.pop("weights"), atol=2**-12)
        assert {**answer, **step} == made
    rows = {f"p/{step}": a_picture(step)["metrics"] for step in range(2)}
    made = series((0, record.table(rows)), content=record.table_content())
    assert Site({"r": {"t": made}}).step("table", tag="t")["rows"] == rows
    content = logs.sentence(reference=None, gold=None)
    site = Site({"r": {"p/0": series((0, PICTURE[1][0][1]), content=content)}})
    answer = site.ask("series", run="r", tag="p/0").json
    assert answer["reference"] is answer["gold"] is None
    assert "error" not in answer["steps"][0]


@pytest.mark.parametrize("columns", ["source", "target"])
def test_a_further_alignment_belongs_to_its_sentence(columns):
    """In a self-attention, each hypothesis has columns of its own."""
    tokens = [["a", 0, 1], ["b", 1, 2]]
    made = picture(
        "ein Haus",
        [["ein", 0, 3]] if columns == "source" else logs.SOURCE["tokens"],
        [hypothesis("ab", tokens, np.eye(2, 1 if columns == "source" else 2))],
        rows="target",
        columns=columns,
    )
    content = record.alignment_content(made, "p/0", "layer 1")
    one = series((4, record.record(made)), content=content)
    site = Site({"r": {"p/0": PICTURE, "p/0/layer 1": one}, "alone": {"x": one}})
    about = {"name": "layer 1", "rows": "target", "columns": columns}
    runs = site.ask("runs").json["runs"]
    [found] = runs["r"]["sentences"]
    assert found["alignments"] == [{"tag": "p/0/layer 1", "last": 4, **about}]
    assert [sentence["tag"] for sentence in runs["alone"]["sentences"]] == ["x"]
    answer = site.ask("series", run="r", tag="p/0/layer 1").json
    assert (answer["rows"], answer["columns"]) == ("target", columns)
    weights = logs.weights_of(answer["steps"][0])
    np.testing.assert_array_equal(weights[0], made["hypotheses"][0]["weights"][0])


def test_nan_and_infinity_are_not_known_and_a_time_may_be_a_string():
    strange = {"a": float("nan"), "b": float("inf"), "c": -float("inf"), "d": 1}
    head = logs.header(logs.hypothesis(), metrics=strange)
    rows = json.dumps({"p/0": strange}).encode()
    table = series((0, rows), content=logs.TABLE)
    one = series((0, [head, logs.packed(np.zeros((1, 3, 3)))]))
    site = Site({"r": {"p/0": one, "t": table}})
    expected = {"a": None, "b": None, "c": None, "d": 1}
    assert site.step()["metrics"] == expected
    assert site.step("table", tag="t")["rows"] == {"p/0": expected}
    # The log has it as eight bytes, which may be any.
    app = json_app(lambda request: {"wall_time": float("nan")})
    assert werkzeug.test.Client(app).get("/").json == {"wall_time": "NaN"}


def test_steps_are_in_order_and_once():
    """A run was started again in the same folder: the later record is meant."""
    arrays = [np.full((1, 3, 3), value) for value in (0.125, 0.25, 0.5, 1.0)]
    steps = zip((5, 1, 5, 3), map(logs.record, arrays), strict=True)
    answer = Site({"r": {"p/0": series(*steps)}}).ask("series", run="r", tag="p/0").json
    found = [(step["step"], logs.weights_of(step)[0, 0, 0]) for step in answer["steps"]]
    assert found == [(1, 0.25), (3, 1.0), (5, 0.5)]


@pytest.mark.parametrize("keep, expected", [(7, 7), (0, ALL), (None, ALL)])
def test_as_many_steps_as_the_user_says(keep, expected):
    hints = {None: 500, "images": 500, "seq_attention": expected}
    for plugin, number in hints.items():
        site = Site({"r": {"p/0": PICTURE}}, plugin and {plugin: keep})
        site.step()
        assert site.provider.asked == number


@pytest.mark.parametrize("problem", [TypeError, MemoryError])
def test_a_series_that_tensorboard_cannot_read(problem, monkeypatch):
    site = Site({"r": {"p/0": PICTURE, "t": logs.ROWS}})

    def read_tensors(*_, **__):
        raise problem("a text that may name a place on this machine")

    monkeypatch.setattr(site.provider, "read_tensors", read_tensors)
    step = site.step()
    assert step == site.step("table", tag="t")
    assert (step["step"], step["wall_time"], len(step)) == (0, 7.0, 3)
    assert step["error"] == (
        "TensorBoard cannot read this series. Expected byte strings, at most "
        f"256 MB together, received {problem.__name__} (details in its terminal). Keep "
        "fewer steps: tensorboard --samples_per_plugin=seq_attention=50."
    )


LACKS = "Invalid argument: the query lacks"
OTHER = "Invalid argument: this route shows another kind of series. Expected a"
UNKNOWN = "Not found: no attention in the log. Expected a run and a tag of ./runs"
RUN = "b/validation"
PAIRS = ("none", "p/0"), (RUN, "../p/0"), ("a", "p/0"), ("", ""), ("<b>", "'")
REFUSALS = [
    ({}, f"{LACKS} 'run'. Expected ?run=...&tag=... ... []. Take run and tag from"),
    ({"run": "a", "x": 1}, f"{LACKS} 'tag' ... received ['run', 'x']"),
    ({"run": RUN, "tag": "p/table"}, f"{OTHER} picture ... 'p/table'. Use ./table for"),
    ({"run": RUN, "tag": "p/0"}, f"{OTHER} table ... 'p/0'. Use ./series for it"),
]
REFUSALS += [
    ({"run": x, "tag": y}, f"{UNKNOWN} ... run={x!r} and tag={y!r}. Reload the page")
    for x, y in PAIRS
]


@pytest.mark.parametrize("query, said", REFUSALS)
def test_refusal(query, said):
    for route, right in {"series": "p/0", "table": "p/table"}.items():
        if query.get("tag") != right or query["run"] != RUN:
            answer = Site(RUNS).ask(route, **query)
            assert answer.status_code == (404 if said.startswith("Not") else 400)
            check_message(answer.text, *said.split(" ... "))
            assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("route", ["runs", "series?run=b%2Fvalidation&tag=p%2F0"])
def test_headers(route):
    client = Site(RUNS).client
    answer = client.get(f"{ROOT}/{route}")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    packed = client.get(f"{ROOT}/{route}", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    head = client.head(f"{ROOT}/{route}")
    assert (head.status_code, head.data) == (200, b"")
