"""Two pictures in the viewer: side by side, their difference, their measures."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from tests.tensorboard_plugin.pictures import (
    BEST,
    REFERENCE,
    as_json,
    german,
    plain,
    weights,
)
from tests.tensorboard_plugin.stage import SVG
from tests.tensorboard_plugin.test_viewer import CLOSE, assert_close

pytestmark = pytest.mark.system


def test_difference(stage):
    first, second = german(), german(sharp=3.0, seed=7)
    about = {"name": "epoch 2", "other": as_json(second), "otherName": "epoch 9"}
    stage.set(hypothesis=2)
    stage.show(as_json(first), **about)
    titles = ["epoch 2", "epoch 9", "epoch 9 − epoch 2"]
    assert stage.texts(".av-heat .av-title") == titles
    stage.point(5, 2, which=2)
    a, b = weights(first, 2)[0, 5, 2], weights(second, 2)[0, 5, 2]
    said = [float(x.replace("−", "-")) for x in stage.texts(".av-exact")]
    assert said == pytest.approx([a, b, b - a], abs=CLOSE)
    assert len(stage.marked(".av-heat .av-left")) == 3
    _, _, (_, _, difference) = stage.csv()
    assert stage.saved_as == "attention-epoch-2-epoch-9.csv"
    assert_close(difference, weights(second, 2)[0] - weights(first, 2)[0])
    groups = ElementTree.fromstring(stage.save("SVG")).findall(f"{SVG}g")
    assert [group.find(f"{SVG}text").text for group in groups] == titles
    assert len(json.loads(stage.save("JSON"))) == 2


def test_both_runs_have_their_hypotheses_and_measures(stage):
    second = german(sharp=3.0, seed=7)
    second["hypotheses"].pop(1)
    stage.show(as_json(german()), name="a", other=as_json(second), otherName="b")
    lists = [beams.split("\n") for beams in stage.texts(".av-beams")]
    heads = [[name, "log-probability", "ranking"] for name in "ab"]
    assert [text[:3] for text in lists] == heads
    assert [text.count("reference") for text in lists] == [1, 1]
    lines = [line.split("\t") for line in stage.texts(".av-measures")[0].split("\n")]
    known = [german()["metrics"], second["metrics"]]
    assert lines[0][1:3] == ["a", "b"]
    for name, *numbers, about in lines[1:]:
        key = name.lower().replace(" ", "_")
        assert numbers == [f"{metrics[key]:.2f}" for metrics in known], name
        assert about.endswith(".")
    stage.find(".av-beams").nth(1).locator("button").nth(1).click()
    chosen = "[viewer.options.hypothesis, viewer.options.otherHypothesis]"
    assert stage.run(chosen) == [0, 1]
    pressed = "button.av-beam[aria-pressed=true] bdi"
    assert stage.texts(pressed) == [BEST[0], REFERENCE[0]]
    assert "other measures are of the best one" in stage.texts(".av-summary")[0]
    stage.find(".av-beams").first.locator("button").nth(2).click()
    assert stage.run("viewer.options.otherHypothesis") is None
    assert stage.texts(pressed) == [REFERENCE[0]] * 2


def test_no_difference_of_different_words(stage):
    second = german()
    second["hypotheses"] = second["hypotheses"][1:]
    for other, said in (
        (plain(3, 3), "sources are not the same from position 1"),
        (second, "translations are not the same from position 2"),
    ):
        stage.show(as_json(german()), other=as_json(other))
        assert stage.texts(".av-heat .av-title") == ["first", "second"]
        assert stage.texts(".av-reason") == [
            f"No difference is drawn: the {said} on. The reference, if there is one, "
            "is the same in both: choose it."
        ]
    stage.point(4, 2)  # the sources are the same, so the column is marked in both
    assert stage.marked(".av-top") == ["bändig", "bändig"]
    assert stage.marked(".av-left") == ["▁irre"]
    assert len(stage.texts(".av-exact")) == 1
    stage.show(as_json(german()))
    assert not stage.find(".av-reason").is_visible()
    second = german()
    second["hypotheses"].reverse()
    stage.show(as_json(german()), other=as_json(second))
    assert not stage.csv()[2][2].any()
