"""The routes, in a TensorBoard whose data the test makes up."""

import base64
import json

import numpy as np
import pytest
import werkzeug.test

from tensorboard_plugin_seqattn.request import json_app
from tests.tensorboard_plugin.fakes import PICTURE, ROOT, ROWS, Site, series
from tests.tensorboard_plugin.logs import (
    GOLD,
    REFERENCE,
    SOURCE,
    TABLE,
    header,
    hypothesis,
    packed,
    record,
    sentence,
    weights_at,
)

RUNS = {"b/validation": {"p/1": PICTURE, "p/0": PICTURE, "p/table": ROWS}, "a": {}}


def values_of(step, i=0):
    found = step["hypotheses"][i]
    raw = base64.b64decode(found["weights"])
    return np.frombuffer(raw, "<f2").reshape(found["shape"])


def test_runs_lists_and_reads_nothing():
    site = Site(RUNS)
    about = {"text": "ein Haus", "last": 0}
    assert site.ask("runs").json == {
        "runs": {
            "a": {"sentences": [], "tables": []},
            "b/validation": {
                "sentences": [{"tag": "p/0", **about}, {"tag": "p/1", **about}],
                "tables": ["p/table"],
            },
        }
    }
    assert site.provider.read == 0


def test_no_runs():
    assert Site({}).ask("runs").json == {"runs": {}}


def test_series():
    arrays = weights_at(0, (2, 3, 3)), weights_at(1, (2, 4, 3))
    free = hypothesis((2, 3, 3), heads=["first", "second"], centre=[0, 1.5, 2], reach=2)
    forced = hypothesis((2, 4, 3), kind="forced", score=None)
    values = [header(free, forced), *map(packed, arrays)]
    answer = Site({"r": {"p/0": series((3, values))}}).ask("series", run="r", tag="p/0")
    [step] = answer.json.pop("steps")
    assert {k: v for k, v in answer.json.items() if k != "steps"} == {
        "source": SOURCE,
        "reference": REFERENCE,
        "gold": GOLD,
    }
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(values_of(step, i), array)
    weights = [found.pop("weights") for found in step["hypotheses"]]
    assert all(weights)
    assert step == {
        "step": 3,
        "wall_time": 7.0,
        "hypotheses": [free, forced],
        "metrics": {"entropy": 0.5},
    }


def test_neither_reference_nor_gold():
    content = sentence(reference=None, gold=None)
    site = Site({"r": {"p/0": series((0, PICTURE[1][0][1].tolist()), content=content)}})
    answer = site.ask("series", run="r", tag="p/0").json
    assert answer["reference"] is answer["gold"] is None
    assert "error" not in answer["steps"][0]


def test_table():
    rows = {"p/0": {"entropy": 0.5, "bleu": None}, "p/1": {}}
    made = series((1, json.dumps(rows).encode()), content=TABLE)
    assert Site({"r": {"t": made}}).ask("table", run="r", tag="t").json == {
        "steps": [{"step": 1, "wall_time": 7.0, "rows": rows}]
    }


def test_nan_and_infinity_are_not_known():
    strange = {"a": float("nan"), "b": float("inf"), "c": -float("inf"), "d": 1}
    values = [header(hypothesis(), metrics=strange), packed(np.zeros((1, 3, 3)))]
    rows = json.dumps({"p/0": strange}).encode()
    table = series((0, rows), content=TABLE)
    site = Site({"r": {"p/0": series((0, values)), "t": table}})
    expected = {"a": None, "b": None, "c": None, "d": 1}
    assert site.step()["metrics"] == expected
    assert site.step("table", tag="t")["rows"] == {"p/0": expected}


def test_a_time_that_is_no_number_is_a_string():
    """The log has it as eight bytes, which may be any."""
    app = json_app(lambda request: {"wall_time": float("nan")})
    assert werkzeug.test.Client(app).get("/").json == {"wall_time": "NaN"}


def test_steps_are_in_order_and_once():
    # A run that was started again in the same folder: the later record is meant.
    arrays = [np.full((1, 3, 3), value) for value in (0.125, 0.25, 0.5, 1.0)]
    steps = zip((5, 1, 5, 3), map(record, arrays), strict=True)
    answer = Site({"r": {"p/0": series(*steps)}}).ask("series", run="r", tag="p/0").json
    assert [step["step"] for step in answer["steps"]] == [1, 3, 5]
    firsts = [float(values_of(step)[0, 0, 0]) for step in answer["steps"]]
    assert firsts == [0.25, 1.0, 0.5]


@pytest.mark.parametrize(
    "hints, expected",
    [
        (None, 500),
        ({}, 500),
        ({"seq_attention": 7}, 7),
        ({"seq_attention": 0}, 2**31 - 1),
        ({"seq_attention": None}, 2**31 - 1),
    ],
)
def test_samples(hints, expected):
    site = Site({"r": {"p/0": PICTURE}}, hints)
    site.step()
    assert site.provider.asked == expected


@pytest.mark.parametrize("problem", [TypeError, MemoryError])
def test_a_series_that_tensorboard_cannot_read(problem, monkeypatch):
    site = Site({"r": {"p/0": PICTURE, "t": ROWS}})

    def read_tensors(*_, **__):
        raise problem("a text that may name a place on this machine")

    monkeypatch.setattr(site.provider, "read_tensors", read_tensors)
    expected = {
        "step": 0,
        "wall_time": 7.0,
        "error": "TensorBoard cannot read this series. Expected byte strings, at most "
        f"256 MB together, received {problem.__name__} (details in its terminal). Keep "
        "fewer steps: tensorboard --samples_per_plugin=seq_attention=50.",
    }
    assert site.step() == site.step("table", tag="t") == expected


# Questions that make no sense ---------------------------------------------------------


def refused(answer, code, text):
    assert (answer.status_code, answer.text) == (code, text)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("route", ["series", "table"])
def test_lacking_arguments(route):
    text = (
        "Invalid argument: the query lacks {!r}. Expected ?run=...&tag=..., received "
        "{}. Take run and tag from ./runs, URL-encoded."
    )
    refused(Site(RUNS).ask(route), 400, text.format("run", []))
    refused(Site(RUNS).ask(route, run="a", x=1), 400, text.format("tag", ["run", "x"]))


@pytest.mark.parametrize("route", ["series", "table"])
@pytest.mark.parametrize(
    "run, tag",
    [("none", "p/0"), ("b/validation", "../p/0"), ("a", "p/0"), ("", ""), ("<b>", "'")],
)
def test_unknown_series(route, run, tag):
    refused(
        Site(RUNS).ask(route, run=run, tag=tag),
        404,
        "Not found: no attention in the log. Expected a run and a tag of ./runs, "
        f"received run={run!r} and tag={tag!r}. Reload the page: the log may have "
        "changed.",
    )


def test_the_other_kind():
    text = (
        "Invalid argument: this route shows another kind of series. Expected a {}, "
        "received the {} {!r}. Use {} for it."
    )
    ask = Site(RUNS).ask
    refused(
        ask("series", run="b/validation", tag="p/table"),
        400,
        text.format("picture", "table", "p/table", "./table"),
    )
    refused(
        ask("table", run="b/validation", tag="p/0"),
        400,
        text.format("table", "picture", "p/0", "./series"),
    )


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
