"""A page of many sentences in a real browser: its list, its filter, a phone."""

import re

import pytest

from keras_seqattn.translator.page import page
from tests.tensorboard_plugin import pictures
from tests.tensorboard_plugin.stage import STATIC, Stage

pytestmark = pytest.mark.system
CHOSEN = ".list-rows tr:has([aria-current=true])"


@pytest.fixture(scope="module")
def shared(browser):
    short, long = pictures.plain(2, 3), pictures.plain(40, 60)
    text = page([pictures.german(), short, long], "Attention: run")
    with Stage(browser, text) as one:
        yield one


@pytest.fixture
def opened(shared):
    shared.page.set_viewport_size({"width": 1280, "height": 900})
    shared.page.reload()
    shared.find(".av-cells:visible").first.wait_for()
    yield shared
    shared.check()


def test_list_shows_what_is_chosen(opened):
    assert opened.texts("h1") == ["Attention: run"]
    assert opened.texts(".list-foot span") == ["3 of 3 sentences"]
    source, best = pictures.SOURCE[0], pictures.BEST[0]
    assert opened.texts(CHOSEN)[0].split("\n")[:2] == [source, best]
    opened.find(".list-text").first.focus()
    opened.page.keyboard.press("ArrowDown")
    other = opened.texts(".list-text")[1]
    assert opened.texts(CHOSEN)[0].startswith(other)
    assert opened.run("document.activeElement.textContent") == other  # focus follows
    assert opened.texts(".av-text")[0].startswith(other)
    colours = opened.find(".list-rows tbody tr").evaluate_all(
        "all => all.map(row => getComputedStyle(row).backgroundColor)"
    )
    assert colours[1] != colours[0] == colours[2]
    opened.page.keyboard.press("/")
    opened.page.keyboard.type(other.split()[0])
    assert opened.texts(".list-text") == [other]


@pytest.mark.parametrize(
    "text, said",
    [
        ("entropy<low", "Write a measure, < or >, and a number. For example:"),
        ("speed>1", "There are: coverage deviation, absentmindedness out, "),
    ],
)
def test_filter_explains_itself(opened, text, said):
    box = opened.find("#list-filter")
    box.fill(text)
    hint = opened.texts(".list-hint")[0]
    assert hint.startswith(f"“{text}” is not understood, so it is left out. ")
    assert said in hint
    assert box.get_attribute("aria-invalid") == "true"
    assert box.get_attribute("aria-describedby") == "list-hint"
    opened.find(".list-hint button").click()
    assert re.fullmatch(r"entropy<0\.\d+", box.input_value())
    assert 0 < len(opened.texts(".list-text")) < 3  # the example works
    assert opened.texts(".list-hint") in ([], [""])
    box.fill("no such words")
    opened.find(".list-hint button").get_by_text("Show all").click()
    assert len(opened.texts(".list-text")) == 3


def test_measures_are_explained_where_they_stand(opened):
    for explained in (
        ".list-rows th button >> nth=4",
        ".av-beam .av-explained >> nth=1",
    ):
        assert opened.find(".av-tooltip").count() == 0
        opened.find(explained).focus()
        said = opened.texts(".av-tooltip")[0]
        assert said == opened.find(explained).evaluate("x => x.ariaDescription")
        assert said.endswith(".")
        opened.page.keyboard.press("Escape")


def test_phone(opened):
    opened.page.set_viewport_size({"width": 420, "height": 860})
    for row in (0, 2):
        opened.find(".list-text").nth(row).click()
        assert opened.run("document.documentElement.scrollWidth") <= 420
    rows, stage = (opened.find(x).bounding_box() for x in (".page-list", ".page-stage"))
    assert rows["y"] + rows["height"] <= stage["y"]  # one after the other
    assert rows["width"] == stage["width"] > 400
    box = opened.find(".av-heat:visible .av-scroll")
    assert box.evaluate("x => x.scrollWidth > x.clientWidth")  # inside of its own box


def test_colours_can_be_read():
    """Text on each background, in both themes: WCAG 2, AA."""
    css = (STATIC / "viewer.css").read_text()
    pairs = dict(re.findall(r"--(\w+): light-dark\((.*?)\)", css))
    colours = {name: pair.split(", ") for name, pair in pairs.items()}
    for theme in (0, 1):
        for back in ("surface", "raised", "soft"):
            for ink in ("ink", "quiet", "accent", "other", "gold"):
                found = contrast(colours[ink][theme], colours[back][theme])
                assert found >= 4.5, (ink, back, theme, found)
        assert contrast(colours["edge"][theme], colours["surface"][theme]) >= 3


def contrast(*colours):
    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    rgb = [byte / 255 for byte in bytes.fromhex(colour[1:])]
    r, g, b = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
