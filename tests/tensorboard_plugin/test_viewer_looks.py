"""The viewer in a real browser: files, themes, scripts, tokens that mean harm."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tests.tensorboard_plugin.browser import chromium
from tests.tensorboard_plugin.pictures import (
    COLUMNS,
    as_json,
    german,
    hostile,
    made,
    right_to_left,
    weights,
)
from tests.tensorboard_plugin.stage import CELLS, Stage

pytestmark = pytest.mark.system
CLOSE = 1e-3
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def stage(browser):
    with Stage(browser) as stage:
        yield stage


# Files --------------------------------------------------------------------------------


def test_svg(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.set(hypothesis=2)
    content = stage.save("SVG")
    assert stage.saved_as == "attention.svg"
    root = ElementTree.fromstring(content)
    texts = [node.text for node in root.iter(f"{SVG}text") if node.text]
    target = [token[0] for token in picture["hypotheses"][2]["tokens"]]
    target[-1] = "⏎"
    assert texts[: len(COLUMNS) + len(target)] == COLUMNS + target
    group = root.find(f"{SVG}g")
    cells = [node for node in group.findall(f"{SVG}rect")][: len(COLUMNS) * len(target)]
    drawn = [
        tuple(int(node.get("fill")[i : i + 2], 16) for i in (1, 3, 5)) for node in cells
    ]
    shown = np.array(stage.colours()).reshape(-1, 3)
    assert drawn == [tuple(colour) for colour in shown.tolist()]
    assert "stroke-dasharray" in content.decode()  # possible gold links
    described = root.find(f"{SVG}desc").text
    assert described.startswith("Die unbändige Neugier") and " → The " in described


def test_png_and_json(stage):
    picture = german(heads=2)
    stage.show(as_json(picture), name="run/validation <b> step 3")
    assert stage.save("PNG").startswith(b"\x89PNG")
    assert stage.saved_as == "attention-run-validation-b-step-3.png"
    saved = json.loads(stage.save("JSON"))
    assert saved["source"] == picture["source"]
    assert saved["hypotheses"][1]["text"] == picture["hypotheses"][1]["text"]
    found = np.array(saved["hypotheses"][1]["weights"])  # row after row of each head
    assert np.abs(found - weights(picture, 1).ravel()).max() < CLOSE


# Looks --------------------------------------------------------------------------------


def test_dark(stage):
    stage.show(as_json(german()))
    light, surface = np.array(stage.colours()), "rgb(255, 255, 255)"
    node = stage.page.locator(".attention-viewer")
    background = "node => getComputedStyle(node).backgroundColor"
    assert node.evaluate(background) == surface
    stage.dark()
    stage.page.wait_for_timeout(50)  # an observer is told later
    assert node.evaluate(background) == "rgb(20, 22, 27)"
    dark = np.array(stage.colours())
    order = weights(german())[0].ravel().argsort()
    brightness = dark.reshape(-1, 3).sum(axis=1)[order]
    assert brightness[-1] > 2 * brightness[0]
    assert light.reshape(-1, 3).sum(axis=1)[order][-1] < light.max() * 3
    assert b"rgb(20, 22, 27)" in stage.save("SVG")
    stage.dark(False)
    stage.page.wait_for_timeout(50)
    assert (np.array(stage.colours()) == light).all()


def test_right_to_left(stage):
    picture = right_to_left()
    stage.show(as_json(picture))
    style = (
        "node => [getComputedStyle(node).unicodeBidi, getComputedStyle(node).direction]"
    )
    text = stage.page.locator(".av-text").first
    assert text.evaluate(style)[1] == "rtl"
    labels = stage.page.locator(".av-top .av-label")
    places = labels.evaluate_all("all => all.map(x => x.getBoundingClientRect().x)")
    assert places == sorted(places)  # the axis is that of time, whatever the script
    assert labels.first.evaluate(style) == ["isolate", "rtl"]
    # in the text "New York" stands in its order, though the words around go leftwards
    words = text.locator(".av-label")
    x = dict(
        words.evaluate_all(
            "all => all.map(x => [x.textContent, x.getBoundingClientRect().x])"
        )
    )
    assert x["New"] < x["York"] < x["بيت"] < x["قطة"]
    stage.point(2, 3)
    assert stage.read().startswith("ישן looked at على 0.")
    root = ElementTree.fromstring(stage.save("SVG"))
    directions = [node.get("direction") for node in root.iter(f"{SVG}text")]
    assert directions.count("rtl") == 7 + 5


def test_hostile_tokens_are_only_text(stage):
    stage.show(as_json(hostile()), name="<img src=x onerror=document.title='owned'>")
    for unit in ("word", "subword"):
        stage.set(unit=unit)
        for row in (0, 5, 10):
            stage.point(row, row)
    assert stage.page.title() == "viewer"
    assert stage.page.locator("#viewer img, #viewer script").count() == 0
    assert "<script>document.title" in stage.texts(".av-reading")[0]
    assert "\\u202eright\\u2066" in stage.texts(".av-left .av-label")
    widest = stage.page.locator(".av-left .av-label:visible").evaluate_all(
        "all => Math.max(...all.map(x => x.getBoundingClientRect().width))"
    )
    assert widest <= 190  # 10 000 characters are cut
    assert len(stage.texts(".av-reading")[0]) < 3000
    assert len(stage.read()) < 200
    ElementTree.fromstring(stage.save("SVG"))
    assert stage.save("PNG").startswith(b"\x89PNG")
    assert json.loads(stage.save("JSON"))["source"] == as_json(hostile())["source"]
    assert [line[0] for line in csv.reader(io.StringIO(stage.save("CSV").decode()))][
        10
    ] == "'=1+1"


def test_weights_that_are_no_numbers(stage):
    stage.show(as_json(hostile()))
    grey = stage.colours()[1][0]
    colours = np.array(stage.colours())
    assert (colours[1] == grey).all() and (colours[2, :3] == grey).all()
    assert not (colours[0] == grey).all(axis=-1).any()
    crosses = stage.page.locator(".av-crosses").first.get_attribute("d")
    assert crosses.count("M") == 12 + 3
    assert (
        "Crosses: the weight is not a finite number." in stage.texts(".av-summary")[0]
    )
    said = []
    for row, column in [(1, 4), (2, 0), (2, 1)]:
        stage.point(row, column)
        said += stage.texts(".av-exact")
    assert said == ["NaN", "∞", "−∞"]
    assert stage.texts(".av-measures dd")[0] == "NaN"
    saved = json.loads(stage.save("JSON"))["hypotheses"][0]["weights"]
    assert saved[12] is None and saved[24] is None


def test_nothing_to_draw(stage):
    empty = made(("", ["</s>"]), [("", ["</s>"], [[1.0]])])
    stage.show(as_json(empty))
    assert stage.texts(".av-left .av-label") == ["⏎"]
    stage.set(unit="word")
    assert stage.page.locator(CELLS).count() == 0
    assert (
        "There is nothing to draw: one of the texts is empty."
        in (stage.texts(".av-summary")[0])
    )
    stage.save("SVG")


def test_narrow(browser):
    with Stage(browser, viewport={"width": 400, "height": 700}) as stage:
        stage.show(as_json(german(heads=4)), other=as_json(german(heads=4)))
        width = "document.documentElement.scrollWidth"
        assert stage.page.evaluate(width) <= 400  # what is wider scrolls by itself
