"""The real TensorBoard and the real tab with a log full of traps."""

import json

import numpy as np
import pytest

from tests.tensorboard_plugin import hostile
from tests.tensorboard_plugin.browser import Tab, expect
from tests.tensorboard_plugin.hostile import LAST, PIECES, TAGS, TOKENS
from tests.tensorboard_plugin.logs import SOURCE, weights_at, weights_of

pytestmark = pytest.mark.system


def steps_of(server, run, tag, route="series"):
    return server.ask(route, run=run, tag=tag).json["steps"]


def test_tab_and_runs_are_there(server):
    assert ("experimental fast data loading" in server.text()) is server.is_fast
    listed = server.get("/data/plugins_listing").json["seq_attention"]
    assert listed["enabled"] is True
    assert listed["tab_name"] == "Attention"
    module = f"{server.prefix}/data/plugin/seq_attention/index.js"
    assert listed["loading_mechanism"]["module_path"] == module
    page = server.get("/data/plugin_entry.html?name=seq_attention")
    assert b'import("./index.js")' in page.body
    assert server.ask("index.js").status == 200
    runs = server.ask("runs").json["runs"]
    assert sorted(runs) == ["bad", "cut", "one/validation", "tags", "two/validation"]
    assert runs["one/validation"] == {
        "sentences": [
            {"tag": "p/000", "last": 2, "text": SOURCE["text"]},
            {"tag": "p/long", "last": hostile.MANY - 1, "text": SOURCE["text"]},
        ],
        "tables": ["p/table"],
    }


@pytest.mark.parametrize("run, first, count", [("one", 0, 3), ("two", 10, 2)])
def test_two_runs_have_the_values_that_were_written(server, run, first, count):
    answer = server.ask("series", run=f"{run}/validation", tag="p/000").json
    assert answer["source"] == SOURCE
    assert [step["step"] for step in answer["steps"]] == list(range(count))
    for i, step in enumerate(answer["steps"]):
        assert (weights_of(step) == weights_at(first + i)).all()
        assert step["metrics"] == {"entropy": 0.5}
        assert step["wall_time"] > 1e9


def test_series_are_what_was_written(server):
    steps = steps_of(server, "one/validation", "p/table", "table")
    assert [step["rows"] for step in steps] == [hostile.ENTROPIES] * 3
    steps = [step["step"] for step in steps_of(server, "one/validation", "p/long")]
    assert len(steps) == (hostile.MANY if server.keeps_all else 500)
    assert steps == sorted(steps) and steps[-1] == hostile.MANY - 1
    answer = server.ask("series", run="bad", tag="p/pieces").json
    assert answer["source"] == {"text": hostile.TEXT, "tokens": TOKENS}
    [found] = answer["steps"][0]["hypotheses"]
    assert (found["tokens"], found["heads"]) == (TOKENS, [PIECES[0]])


def test_tags_are_names_not_places(server):
    for number, tag in enumerate(TAGS):
        [step] = steps_of(server, "tags", tag)
        assert (weights_of(step) == weights_at(number)).all(), tag


def test_broken_series_say_so_and_steps_before_a_cut_are_shown(server):
    broken = {"p/foreign": "is broken. ", "p/newer": "is newer than this tab. "}
    for tag, said in broken.items():
        [step] = steps_of(server, "bad", tag)
        assert step["step"] == 0
        assert step["error"].startswith(f"The description of this series {said}")
    steps = steps_of(server, "cut", "p/000")
    assert [step["step"] for step in steps] == list(range(5))
    assert not any("error" in step for step in steps)


@pytest.mark.parametrize(
    "path",
    [
        *("../plugin.py", "plugin.py", "static/../../plugin.py", "static/index.js", ""),
        *("../../../../../../../../etc/passwd", "//etc/passwd", "index.js%00.py"),
        *("%2e%2e/plugin.py", "..%2fplugin.py", "..%5cplugin.py"),
        *("%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd", "index.js/../../plugin.py"),
    ],
)
def test_there_is_nothing_but_the_routes(server, path):
    answer = server.ask(path)
    assert (answer.status, answer.body) == (404, b"Not found")


def test_tensorboard_prints_no_errors(server):
    [step] = steps_of(server, "bad", "p/bfloat16")
    assert step["error"] and server.process.poll() is None
    printed = server.text()
    assert "In 3.0, this warning will become an error" not in printed  # headers
    assert "Failed to load plugin" not in printed
    assert "Error on request" not in printed


fast = pytest.mark.parametrize("server", ["fast"], indirect=True)
MESSAGES = {  # on the page, where no picture can be
    "p/nan": None,  # its last step is fine
    "p/bfloat16": "cannot read this series",
    "p/foreign": "is broken",
    "p/newer": "Upgrade keras_seqattn",
}


@pytest.fixture(scope="module")
def shared_tab(browser, server):
    with Tab(browser, server) as tab:
        yield tab


@fast
@pytest.mark.parametrize("run", ["bad", "cut", "tags"])
def test_every_sentence_of_a_hostile_log(tab, run):
    tags = sorted(tag for other, tag in LAST if other == run)
    tab.open(run=run)
    for tag in tags:
        row = tab.find(f"tbody tr[data-tag={json.dumps(tag, ensure_ascii=False)}]")
        row.click()
        expect(row.locator("button")).to_have_attribute("aria-current", "true")
        if MESSAGES.get(tag):
            tab.find(".tab-page").get_by_text(MESSAGES[tag]).wait_for()
        else:
            tab.wait_for_step(LAST[run, tag])
    expect(tab.find("tbody tr")).to_have_count(len(tags))


@fast
def test_hostile_words_and_a_step_that_diverged(tab):
    tab.open(run="bad", sentence="p/pieces")
    tab.wait_for_step(0)
    row = tab.find("tbody tr [aria-current=true]")
    assert row.inner_text().startswith(PIECES[0])
    assert tab.find("script, img, iframe").count() == 1  # that of the page itself
    assert tab.page.title() == "TensorBoard"
    tab.open(run="bad", sentence="p/nan", step=1)
    tab.find(".tab-page").get_by_text("NaN or infinite").wait_for()
    tab.page.keyboard.press("ArrowRight")
    tab.wait_for_step(2)


@pytest.mark.parametrize("server", ["multiplexer-prefix-all"], indirect=True)
def test_other_loader_behind_a_path_prefix(browser, server):
    link = {"run": "one/validation", "sentence": "p/000", "step": 1}
    with Tab(browser, server, **link) as tab:
        tab.wait_for_step(1)
        assert "/some/where/#seq_attention" in tab.page.url
        [(_, columns, values)] = tab.csv()
    assert columns[:2] == ["ein", "▁Haus"]
    np.testing.assert_allclose(values, weights_at(1)[0], atol=1e-3)
