"""The viewer in a real browser: files, themes, scripts, hostile tokens, other hosts."""

import html
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from keras_seqattn.translator.page import frame, page
from tests.tensorboard_plugin import pictures
from tests.tensorboard_plugin.browser import Page
from tests.tensorboard_plugin.pictures import as_json, german, hostile, weights
from tests.tensorboard_plugin.stage import ADDRESS, CELLS, SVG, Stage

pytestmark = pytest.mark.system
CLOSE = 1e-3


def test_svg(stage):
    stage.show(as_json(german()))
    stage.set(hypothesis=2)
    content = stage.save("SVG")
    assert stage.saved_as == "attention.svg"
    root = ElementTree.fromstring(content)
    texts = [node.text for node in root.iter(f"{SVG}text") if node.text]
    labels = [*pictures.COLUMNS, *pictures.REFERENCE[1][:-1], "⏎"]
    assert texts[: len(labels)] == labels
    cells = root.find(f"{SVG}g").findall(f"{SVG}rect")
    shown = stage.colours().reshape(-1, 3).tolist()
    drawn = [list(bytes.fromhex(cell.get("fill")[1:])) for cell in cells[: len(shown)]]
    assert drawn == shown
    assert b"stroke-dasharray" in content  # possible gold links
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


def test_dark(stage):
    stage.show(as_json(german()))
    order = weights(german())[0].ravel().argsort()
    node = stage.find(".attention-viewer")

    def looks(is_dark):
        stage.dark(is_dark)
        stage.page.wait_for_timeout(50)  # an observer is told later
        colours = stage.colours().reshape(-1, 3)[order].sum(axis=1)
        return node.evaluate("x => getComputedStyle(x).backgroundColor"), colours

    background, light = looks(False)
    assert background == "rgb(255, 255, 255)" and light[0] > 1.5 * light[-1]
    background, dark = looks(True)
    assert background == "rgb(20, 22, 27)" and dark[-1] > 2 * dark[0]
    assert b"rgb(20, 22, 27)" in stage.save("SVG")
    assert (looks(False)[1] == light).all()


def test_right_to_left(stage):
    stage.show(as_json(pictures.right_to_left()))
    style = "x => [getComputedStyle(x).unicodeBidi, getComputedStyle(x).direction]"
    place = "all => all.map(x => [x.textContent, x.getBoundingClientRect().x])"
    text = stage.find(".av-text").first
    assert text.evaluate(style)[1] == "rtl"
    labels = stage.find(".av-top .av-label")
    places = [x for _, x in labels.evaluate_all(place)]
    assert places == sorted(places)  # the axis is that of time, whatever the script
    assert labels.first.evaluate(style) == ["isolate", "rtl"]
    # in the text "New York" stands in its order, though the words around go leftwards
    x = dict(text.locator(".av-label").evaluate_all(place))
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
    assert stage.find("#viewer img, #viewer script").count() == 0
    assert "<script>document.title" in stage.texts(".av-reading")[0]
    assert "\\u202eright\\u2066" in stage.texts(".av-left .av-label")
    widest = stage.find(".av-left .av-label:visible").evaluate_all(
        "all => Math.max(...all.map(x => x.getBoundingClientRect().width))"
    )
    assert widest <= 200  # 10 000 characters are cut
    assert len(stage.texts(".av-reading")[0]) < 3000
    assert len(stage.read()) < 200
    ElementTree.fromstring(stage.save("SVG"))
    assert stage.save("PNG").startswith(b"\x89PNG")
    assert json.loads(stage.save("JSON"))["source"] == as_json(hostile())["source"]
    [(rows, _, _)] = stage.csv()
    assert rows[9] == "'=1+1"


def test_weights_that_are_no_numbers_and_nothing_to_draw(stage):
    stage.show(as_json(hostile()))
    colours = stage.colours()
    is_grey = (colours == colours[1, 0]).all(axis=-1)
    assert is_grey[1].all() and is_grey[2, :3].all() and not is_grey[0].any()
    crosses = stage.find(".av-crosses").first.get_attribute("d")
    assert crosses.count("M") == 12 + 3
    note = "Crosses: the weight is not a finite number."
    assert note in stage.texts(".av-summary")[0]
    for cell, said in {(1, 4): "NaN", (2, 0): "∞", (2, 1): "−∞"}.items():
        stage.point(*cell)
        assert stage.texts(".av-exact") == [said]
    assert stage.measure("entropy") == "–"
    saved = json.loads(stage.save("JSON"))["hypotheses"][0]["weights"]
    assert saved[12] is None and saved[24] is None
    empty = pictures.made(("", ["</s>"]), [("", ["</s>"], [[1.0]])])
    stage.show(as_json(empty))
    assert stage.texts(".av-left .av-label") == ["⏎"]
    stage.set(unit="word")
    assert stage.find(CELLS).count() == 0
    note = "There is nothing to draw: one of the texts is empty."
    assert note in stage.texts(".av-summary")[0]
    stage.save("SVG")


def test_narrow(browser):
    with Stage(browser, viewport={"width": 400, "height": 700}) as stage:
        stage.show(as_json(german(heads=4)), other=as_json(german(heads=4)))
        width = stage.run("document.documentElement.scrollWidth")
        assert width <= 400  # what is wider scrolls by itself


POLICY = r'http-equiv="Content-Security-Policy" content="(.*?)"'
# What a notebook puts around the result of a cell.
NOTEBOOK = "<!DOCTYPE html><title>notebook</title><body {}>before{}after"


def test_file_in_the_theme_of_the_system(browser):
    text = page([german(), pictures.wide()])
    with Stage(browser, text, color_scheme="dark") as stage:
        assert stage.run("document.documentElement.dataset.theme") == "dark"
        stage.page.emulate_media(color_scheme="light")
        stage.find("html[data-theme=light]").wait_for(state="attached")
        assert stage.texts(".list-text")[1] == "注意力让模型看到整个句子。"
        assert len(stage.texts("button.av-beam")) == 3
        stage.point(4, 2)
        assert stage.read().startswith("irre looked at bändig 0.")
        stage.find(".list-text").nth(1).click()
        assert stage.texts(".av-left .av-label")[0] == "注意"
        assert stage.save("SVG").startswith(b"<?xml")
        assert stage.save("PNG").startswith(b"\x89PNG")
        assert [url for url in stage.requests if url.startswith("http")] == [ADDRESS]


def test_file_without_a_server(browser, tmp_path):
    file, empty = tmp_path / "attention.html", tmp_path / "empty.html"
    file.write_text(page([german()], "A <title>"), encoding="utf-8")
    empty.write_text(page([]), encoding="utf-8")
    with Page(browser.new_page(), "file:") as opened:
        opened.page.goto(empty.as_uri())
        assert opened.texts(".page-stage") == ["There are no sentences to show."]
        opened.page.goto(file.as_uri())
        assert opened.page.title() == "A <title>"
        assert opened.find(".av-cells:visible").count() == 1
        assert not opened.find(".page-list").is_visible()  # of one there is no choice


def test_hostile_sentences_stay_data_and_only_the_viewer_may_run(browser):
    text = page([hostile()], "</title><script>document.title='owned'</script>")
    assert text.count("</script>") == 2  # the data's, and the program's
    assert "\u2028" not in text
    [picture] = json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.S)[1])
    assert picture["source"]["text"] == hostile()["source"]["text"]
    with Stage(browser, text) as stage:
        assert stage.page.title().startswith("</title>")
        assert len(stage.texts(".av-left .av-label")) == 12
        assert stage.find("#page img").count() == 0
    text = page([german()])
    assert re.search(POLICY, text)[1].startswith("default-src 'none'; ")
    broken = text.replace("<body>", "<body><script>window.owned = 1</script>")
    with Stage(browser, broken) as stage:
        assert stage.run("window.owned") is None
        assert any("Content Security Policy" in said for said in stage.complaints)
        stage.complaints.clear()


@pytest.mark.parametrize(
    "theme, is_dark", [('data-jp-theme-light="false"', True), ("", False)]
)
def test_cell_of_a_notebook(browser, theme, is_dark):
    cell = frame(page([german()]), "Attention")
    with Stage(browser, NOTEBOOK.format(theme, cell)) as stage:
        inside = stage.page.frame_locator("iframe")
        inside.locator(".av-cells:visible").wait_for()
        assert inside.locator("html[data-theme=dark]").count() == is_dark
        stage.page.wait_for_function(
            """() => {
              const frame = document.querySelector("iframe");
              const {scrollHeight} = frame.contentDocument.documentElement;
              const height = parseFloat(frame.style.height);
              return height !== 760 && height >= scrollHeight - 1;
            }"""
        )
        assert "attention-viewer" not in stage.page.content().split("srcdoc")[0]


def test_frame_holds_the_page_unchanged():
    text = page([hostile()])
    srcdoc = re.search(r'srcdoc="([^"]*)"', frame(text))[1]
    assert html.unescape(srcdoc) == text
