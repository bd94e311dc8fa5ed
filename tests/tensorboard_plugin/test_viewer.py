"""The viewer in a real browser: what is drawn."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from keras_seqattn.metrics.confidence import merge_subwords
from tests.tensorboard_plugin.browser import chromium
from tests.tensorboard_plugin.pictures import (
    COLUMNS,
    ROWS,
    as_json,
    german,
    plain,
    soft,
    weights,
    wide,
)
from tests.tensorboard_plugin.stage import CELLS, Stage, table

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


# What is drawn ------------------------------------------------------------------------


def test_modules_apart(browser):
    with Stage(browser, apart=True) as stage:
        stage.show(as_json(german()))
        assert stage.texts(".av-left .av-label") == ROWS
        files = [url for url in stage.requests if url.endswith(".js")]
        assert len(files) > 20


def test_cells_are_the_weights(stage):
    picture = german()
    stage.show(as_json(picture))
    assert stage.texts(".av-left .av-label") == ROWS
    assert stage.texts(".av-top .av-label") == COLUMNS
    stops = stage.page.evaluate(
        """async () => (await import("./scale.js")).legendValues({}, 256).map(
          (await import("./scale.js")).scaleOf("light").rgb)"""
    )
    drawn = np.array(stage.colours())
    expected = np.array(stops)[np.rint(weights(picture)[0] * 256).astype(int)]
    assert np.abs(drawn - expected).max() <= 2  # one of 256 levels
    rows, columns, values = table(stage.save("CSV"))
    assert (rows, columns) == (ROWS, COLUMNS)
    assert np.abs(values - weights(picture)[0]).max() < CLOSE
    for row, column in [(0, 0), (4, 2), (11, 14)]:
        stage.point(row, column)
        said = float(stage.texts(".av-exact")[0])
        assert said == pytest.approx(weights(picture)[0, row, column], abs=CLOSE)


def test_words(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.choose("Words")
    assert stage.page.evaluate("window.changes.at(-1).unit") == "word"
    rows, columns, values = table(stage.save("CSV"))
    assert columns == picture["source"]["text"].split()
    assert rows == picture["hypotheses"][0]["text"].split()
    source = [0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6, 6, -1]
    target = [0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 5, -1]
    expected = merge_subwords(weights(picture)[0], source, target)
    assert np.abs(values - expected).max() < CLOSE
    assert "The end tokens belong to no word" in stage.texts(".av-summary")[0]
    stage.choose("Tokens")
    assert stage.texts(".av-left .av-label") == ROWS


def test_scripts_without_blanks_keep_their_pieces(stage):
    stage.show(as_json(wide()))
    stage.set(unit="word")
    assert stage.texts(".av-top .av-label") == [*"注意力让模型看到整个句子。"]
    label = stage.page.locator(".av-top .av-label").first
    assert label.get_attribute("transform") is None  # single characters stand upright


def test_views(stage):
    stage.show(as_json(german()))
    seen = {
        "All": (1, 1, 1),
        "Heat map": (1, 0, 0),
        "Links": (0, 1, 0),
        "Reading": (0, 0, 1),
    }
    for name, counts in seen.items():
        stage.choose(name)
        found = [
            stage.page.locator(f"{view}:visible").count()
            for view in (".av-heat", ".av-links", ".av-reading")
        ]
        assert tuple(found) == counts, name


def test_links_are_drawn_by_weight(stage):
    picture = german()
    stage.show(as_json(picture))
    paths = stage.page.locator(".av-lines path:visible")
    assert paths.count() == (weights(picture)[0] >= 0.04).sum()
    widths = paths.evaluate_all(
        "all => all.map(x => Number(x.getAttribute('stroke-width')))"
    )
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(0.8 + 5.2 * weights(picture).max(), abs=0.02)


def test_heads(stage):
    picture = german(heads=3)
    stage.show(as_json(picture))
    tiles = stage.page.locator(".av-tile:visible")
    names = ["mean", "layer 1 head 1", "layer 1 head 2", "layer 1 head 3"]
    assert tiles.locator("span:first-child").all_inner_texts() == names
    assert np.abs(table(stage.save("CSV"))[2] - weights(picture).mean(0)).max() < CLOSE
    tiles.nth(2).click()
    assert stage.page.evaluate("window.changes.at(-1).head") == 1
    assert tiles.nth(2).get_attribute("aria-pressed") == "true"
    assert np.abs(table(stage.save("CSV"))[2] - weights(picture)[1]).max() < CLOSE
    cells = tiles.nth(3).locator(".av-cells").bounding_box()
    stage.page.mouse.move(
        cells["x"] + cells["width"] * 0.5 / len(COLUMNS),
        cells["y"] + cells["height"] * 4.5 / len(ROWS),
    )
    assert stage.marked(".av-left") == ["▁irre"]  # in the large one, too
    assert stage.read().startswith("irre looked at Die ")
    stage.show(as_json(german()))  # has only one: the option is kept for the next
    assert stage.page.locator(CELLS).count() == 1
    assert stage.page.evaluate("window.viewer.options.head") == 1


def test_hypotheses(stage):
    picture = german()
    stage.show(as_json(picture))
    rows = stage.page.locator("button.av-beam:visible")
    assert [text.split("\n") for text in rows.all_inner_texts()] == [
        ["1", picture["hypotheses"][0]["text"], "−4.21", "−0.35"],
        ["2", picture["hypotheses"][1]["text"], "−5.09", "−0.39"],
        ["reference", picture["hypotheses"][2]["text"], "−7.91", "–"],
    ]
    assert "BLEU" in stage.texts(".av-measures")[0]
    rows.nth(1).click()
    assert stage.page.evaluate("window.changes.at(-1).hypothesis") == 1
    assert "BLEU" not in stage.texts(".av-measures")[0]  # it is of the best
    expected = weights(picture, 1)[0]
    assert np.abs(table(stage.save("CSV"))[2] - expected).max() < CLOSE
    stage.set(hypothesis=7)  # of a step that had more
    assert rows.nth(2).get_attribute("aria-pressed") == "true"


def test_gold_links(stage):
    stage.show(as_json(german()))
    box = stage.page.get_by_label("Gold links")
    assert box.is_disabled()
    assert "Gold links belong to the reference" in stage.texts(".av-summary")[0]
    stage.set(hypothesis=2)
    squares = stage.page.locator(".av-sure").first
    assert squares.get_attribute("d").count("M") == 20  # tokens of the linked words
    box.uncheck()
    assert squares.get_attribute("d") == ""
    assert stage.page.evaluate("window.changes.at(-1).gold") is False
    stage.show(as_json(plain(3, 3)))
    assert not box.is_visible()


def test_local_attention(stage):
    about = {"centre": [0.0, 2.5, None], "reach": 1.0}
    stage.show(as_json(plain(3, 6, **about)))
    window = stage.page.locator(".av-window").first.get_attribute("d")
    centre = stage.page.locator(".av-centre").first.get_attribute("d")
    assert (window.count("M"), centre.count("M")) == (2, 2)
    assert "Dots are the predicted centres" in stage.texts(".av-summary")[0]
    stage.set(unit="word")
    assert stage.page.locator(".av-window").first.get_attribute("d") == ""


# Two pictures -------------------------------------------------------------------------


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
    parts = stage.save("CSV").split(b"\r\n\r\n")
    assert stage.saved_as == "attention-epoch-2-epoch-9.csv"
    expected = weights(second, 2)[0] - weights(first, 2)[0]
    assert np.abs(table(parts[2])[2] - expected).max() < CLOSE
    root = ElementTree.fromstring(stage.save("SVG"))
    assert [
        group.find(f"{SVG}text").text for group in root.findall(f"{SVG}g")
    ] == titles
    assert len(json.loads(stage.save("JSON"))) == 2


def test_no_difference_of_different_words(stage):
    second = german()
    second["hypotheses"] = second["hypotheses"][1:]
    stage.show(as_json(german()), other=as_json(second))
    assert stage.texts(".av-heat .av-title") == ["first", "second"]
    assert stage.texts(".av-reason") == [
        "No difference is drawn: the translations are not the same from position 2 on. "
        "The reference, if there is one, is the same in both: choose it."
    ]
    stage.point(4, 2)  # the sources are the same, so the column is marked in both
    assert stage.marked(".av-top") == ["bändig", "bändig"]
    assert stage.marked(".av-left") == ["▁irre"]
    assert len(stage.texts(".av-exact")) == 1
    stage.show(as_json(german()))
    assert not stage.page.locator(".av-reason").is_visible()


def test_like_is_compared_with_like(stage):
    second = german()
    second["hypotheses"] = second["hypotheses"][::-1]  # the same, in another order
    stage.show(as_json(german()), other=as_json(second))
    assert stage.texts(".av-reason") == []
    assert np.abs(table(stage.save("CSV").split(b"\r\n\r\n")[2])[2]).max() == 0


# The host -----------------------------------------------------------------------------


def test_a_picture_that_cannot_be_drawn(stage):
    broken = as_json(german())
    broken["hypotheses"][0]["weights"] = ""
    stage.show(broken)
    assert stage.texts(".av-problem") == [
        "This picture cannot be drawn. The weights do not fit the tokens. Expected "
        "12 x 15 for each head, received 0 numbers for the shape 1,12,15."
    ]
    assert not stage.page.locator(".av-content").is_visible()
    stage.show({"source": {"text": "a", "tokens": []}, "hypotheses": []})
    assert stage.texts(".av-problem") == [
        "This picture cannot be drawn. The picture has no hypothesis."
    ]
    stage.show(as_json(german()))
    assert stage.texts(".av-problem") == []
    assert stage.texts(".av-left .av-label") == ROWS


def test_host(stage):
    assert not stage.page.locator(".attention-viewer").is_visible()  # nothing yet
    stage.show(as_json(german()))
    stage.set(unit="word", view="nonsense", head="__proto__")
    assert stage.page.evaluate("[window.changes, window.viewer.options]") == [
        [],  # the reader has changed nothing
        {"unit": "word", "hypothesis": 0, "head": "mean", "view": "all", "gold": True},
    ]
    stage.page.evaluate("window.viewer.destroy()")
    assert stage.page.locator("#viewer").inner_html() == ""


# Time ---------------------------------------------------------------------------------


def test_a_large_picture(stage):
    stage.show(as_json(plain(100, 100)))
    assert tuple(stage.size()) == (100, 100)
    assert stage.page.locator(CELLS).bounding_box()["width"] / 100 >= 14


@pytest.mark.slow  # of milliseconds: not beside other tests
def test_it_is_quick(stage):
    large = [as_json(plain(100, 100, seed)) for seed in range(2)]
    assert min(stage.show(large[i % 2]) for i in range(6)) < 300
    steps = [plain(30, 30) for _ in range(2)]
    steps[1]["hypotheses"][0]["weights"] = soft([*range(30)], 30, 30, seed=9)
    steps = [as_json(step) for step in steps]
    assert min(stage.show(steps[i % 2]) for i in range(8)) < 30
