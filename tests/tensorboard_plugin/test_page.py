"""The viewer's other hosts: a file, a cell of a notebook."""

import html
import json
import re

import pytest

from keras_seqattn.translator.page import frame, page
from tests.tensorboard_plugin.browser import chromium
from tests.tensorboard_plugin.pictures import german, hostile, wide
from tests.tensorboard_plugin.stage import Stage

pytestmark = pytest.mark.system
POLICY = r'http-equiv="Content-Security-Policy" content="(.*?)"'
# What a notebook puts around the result of a cell.
NOTEBOOK = "<!DOCTYPE html><title>notebook</title><body {}>before{}after"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def pictures_in(text):
    found = re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_file_shows_sentence_after_sentence(browser):
    with Stage(browser, page([german(), wide()])) as stage:
        assert stage.texts(".page-sentence")[1].startswith("注意力让模型看到整个句子。")
        assert len(stage.texts("button.av-beam")) == 3
        stage.point(4, 2)
        assert stage.read().startswith("irre looked at bändig 0.")
        stage.page.locator(".page-sentence").nth(1).click()
        assert stage.texts(".av-left .av-label")[0] == "注意"
        assert stage.save("SVG").startswith(b"<?xml")
        assert stage.save("PNG").startswith(b"\x89PNG")
        assert [url for url in stage.requests if url.startswith("http")] == [
            "http://viewer.test/"
        ]


def test_file_without_a_server(browser, tmp_path):
    file = tmp_path / "attention.html"
    file.write_text(page([german()], "A <title>"), encoding="utf-8")
    opened = browser.new_page()
    wrong = []
    opened.on("console", lambda said: wrong.append(said.text))
    opened.goto(file.as_uri())
    assert opened.title() == "A <title>"
    assert opened.locator(".av-cells:visible").count() == 1
    assert not opened.locator(".page-list").is_visible()  # of one there is no choice
    assert wrong == []
    opened.close()


def test_nothing_to_show(browser):
    with Stage(browser, page([])) as stage:
        assert stage.texts(".page-stage") == ["There are no sentences to show."]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_of_the_system(browser, scheme):
    with Stage(browser, page([german()]), color_scheme=scheme) as stage:
        theme = "document.documentElement.dataset.theme"
        assert stage.page.evaluate(theme) == scheme
        stage.page.emulate_media(color_scheme="light")
        stage.page.locator("html[data-theme=light]").wait_for(state="attached")


def test_hostile_sentences_stay_data(browser):
    text = page([hostile()], "</title><script>document.title='owned'</script>")
    assert text.count("</script>") == 2  # the data's, and the program's
    assert "\u2028" not in text
    assert pictures_in(text)[0]["source"]["text"] == hostile()["source"]["text"]
    with Stage(browser, text) as stage:
        assert stage.page.title().startswith("</title>")
        assert len(stage.texts(".av-left .av-label")) == 12
        assert stage.page.locator("#page img").count() == 0


def test_only_the_viewer_may_run(browser):
    text = page([german()])
    assert re.search(POLICY, text)[1].startswith("default-src 'none'; ")
    broken = text.replace("<body>", "<body><script>window.owned = 1</script>")
    stage = Stage(browser, broken)
    assert stage.page.evaluate("window.owned") is None
    assert any("Content Security Policy" in said for said in stage.wrong)
    stage.context.close()


def test_cell_of_a_notebook(browser):
    for theme, is_dark in (('data-jp-theme-light="false"', True), ("", False)):
        cell = frame(page([german()]), "Attention")
        with Stage(browser, NOTEBOOK.format(theme, cell)) as stage:
            inside = stage.page.frame_locator("iframe")
            inside.locator(".av-cells:visible").wait_for()
            dark = inside.locator("html[data-theme=dark]").count()
            assert bool(dark) == is_dark
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
