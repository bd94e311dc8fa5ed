"""Both loaders of the real TensorBoard, a path prefix, and a log full of traps."""

import base64

import numpy as np
import pytest

from tests.tensorboard_plugin.hostile import ENTROPIES, MANY, PIECES, TAGS, TEXT, TOKENS
from tests.tensorboard_plugin.logs import SOURCE, weights_at

pytestmark = pytest.mark.system


def steps_of(server, run, tag, route="series"):
    return server.ask(route, run=run, tag=tag).json["steps"]


def weights_of(step):
    [found] = step["hypotheses"]
    raw = base64.b64decode(found["weights"])
    return np.frombuffer(raw, "<f2").reshape(found["shape"])


def test_tab_is_there(server):
    assert ("experimental fast data loading" in server.text()) is server.is_fast
    listed = server.get("/data/plugins_listing").json["seq_attention"]
    assert listed["enabled"] is True
    assert listed["tab_name"] == "Attention"
    module = f"{server.prefix}/data/plugin/seq_attention/index.js"
    assert listed["loading_mechanism"]["module_path"] == module
    page = server.get("/data/plugin_entry.html?name=seq_attention")
    assert b'import("./index.js")' in page.data


def test_runs(server):
    runs = server.ask("runs").json["runs"]
    assert sorted(runs) == ["bad", "cut", "one/validation", "tags", "two/validation"]
    assert runs["one/validation"] == {
        "sentences": [
            {"tag": "p/000", "last": 2, "text": SOURCE["text"]},
            {"tag": "p/long", "last": MANY - 1, "text": SOURCE["text"]},
        ],
        "tables": ["p/table"],
    }


@pytest.mark.parametrize("run, first, count", [("one", 0, 3), ("two", 10, 2)])
def test_two_runs_have_the_values_that_were_written(server, run, first, count):
    answer = server.ask("series", run=f"{run}/validation", tag="p/000").json
    assert answer["source"] == SOURCE
    assert [step["step"] for step in answer["steps"]] == list(range(count))
    for i, step in enumerate(answer["steps"]):
        np.testing.assert_array_equal(weights_of(step), weights_at(first + i))
        assert step["metrics"] == {"entropy": 0.5}
        assert step["wall_time"] > 1e9


def test_table(server):
    steps = steps_of(server, "one/validation", "p/table", "table")
    assert [step["rows"] for step in steps] == [ENTROPIES] * 3


def test_as_many_steps_as_asked_for(server):
    steps = [step["step"] for step in steps_of(server, "one/validation", "p/long")]
    assert len(steps) == (MANY if server.keeps_all else 500)
    assert steps == sorted(steps) and steps[-1] == MANY - 1


def test_static_files(server):
    answer = server.ask("index.js")
    assert answer.code == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_nan_is_told(server):
    good, nan, strange = steps_of(server, "bad", "p/nan")
    np.testing.assert_array_equal(weights_of(good), weights_at(0))
    assert "received 9 NaN or infinite of 9" in nan["error"]
    assert strange["metrics"] == {"entropy": None, "bleu": None}


def test_hostile_pieces_come_back_as_they_are(server):
    answer = server.ask("series", run="bad", tag="p/pieces")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["source"] == {"text": TEXT, "tokens": TOKENS}
    [step] = answer.json["steps"]
    [found] = step["hypotheses"]
    assert found["tokens"] == TOKENS
    assert found["heads"] == [PIECES[0]]


@pytest.mark.parametrize("tag", TAGS)
def test_tags_are_names_not_places(server, tag):
    [step] = steps_of(server, "tags", tag)
    np.testing.assert_array_equal(weights_of(step), weights_at(TAGS.index(tag)))


@pytest.mark.parametrize(
    "tag, text",
    [
        ("p/bfloat16", ""),
        ("p/foreign", "The description of this series is broken. "),
        ("p/newer", "The description of this series is newer than this tab. "),
    ],
)
def test_broken_series_have_one_step_that_says_so(server, tag, text):
    [step] = steps_of(server, "bad", tag)
    assert step["step"] == 0
    assert step["error"].startswith(text)


def test_what_stands_before_a_cut_is_shown(server):
    steps = steps_of(server, "cut", "p/000")
    assert [step["step"] for step in steps] == list(range(5))
    assert not any("error" in step for step in steps)


@pytest.mark.parametrize(
    "path",
    [
        "../plugin.py",
        "../../../../../../../../etc/passwd",
        "static/../../plugin.py",
        "%2e%2e/plugin.py",
        "..%2fplugin.py",
        "..%5cplugin.py",
        "%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "//etc/passwd",
        "index.js/../../plugin.py",
        "index.js%00.py",
        "plugin.py",
        "static/index.js",
        "",
    ],
)
def test_there_is_nothing_but_the_routes(server, path):
    answer = server.ask(path)
    assert (answer.code, answer.data) == (404, b"Not found")


@pytest.mark.parametrize("route", ["series", "table"])
def test_clean_refusals(server, route):
    lacking, unknown = server.ask(route), server.ask(route, run="../x", tag="<b>")
    assert (lacking.code, unknown.code) == (400, 404)
    for answer in (lacking, unknown):
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert b"the query lacks 'run'" in lacking.data
    assert b"received run='../x' and tag='<b>'" in unknown.data


def test_tensorboard_had_nothing_to_complain_of(server):
    test_broken_series_have_one_step_that_says_so(server, "p/bfloat16", "")
    printed = server.text()
    assert "In 3.0, this warning will become an error" not in printed  # headers
    assert "Failed to load plugin" not in printed
    assert "Error on request" not in printed
    assert server.process.poll() is None
