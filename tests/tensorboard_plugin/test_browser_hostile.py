"""A log full of traps, in the real tab: nothing executes, what is broken is told."""

import pytest

from tests.tensorboard_plugin.browser import Tab, chromium, expect
from tests.tensorboard_plugin.hostile import LAST, PIECES

pytestmark = [
    pytest.mark.system,
    pytest.mark.parametrize("server", ["fast"], indirect=True),
]

TOLD = {  # on the page, where no picture can be
    "p/nan": None,  # its last step is fine
    "p/bfloat16": "cannot read this series",
    "p/foreign": "is broken",
    "p/newer": "Upgrade keras_seqattn",
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("run", ["bad", "cut", "tags"])
def test_every_sentence_of_a_hostile_log(browser, server, run):
    tags = sorted(tag for other, tag in LAST if other == run)
    with Tab(browser, server, {"run": run}) as tab:
        for tag in tags:
            tab.find("tbody tr").nth(0).wait_for()
            rows = tab.find("tbody tr")
            shown = [row.get_attribute("data-tag") for row in rows.all()]
            rows.nth(shown.index(tag)).click()
            expect(rows.nth(shown.index(tag))).to_have_attribute(
                "aria-selected", "true"
            )
            if TOLD.get(tag):
                tab.find(".tab-page").get_by_text(TOLD[tag]).wait_for()
            else:
                tab.wait_for_step(LAST[run, tag])
        assert sorted(shown) == tags


def test_hostile_words(browser, server):
    with Tab(browser, server, {"run": "bad", "sentence": "p/pieces"}) as tab:
        tab.wait_for_step(0)
        row = tab.find("tbody tr[aria-selected=true] .tab-text")
        assert row.inner_text().startswith(PIECES[0])
        assert tab.find("script, img, iframe").count() == 1  # that of the page itself
        assert tab.page.title() == "TensorBoard"


def test_step_that_diverged(browser, server):
    with Tab(browser, server, {"run": "bad", "sentence": "p/nan", "step": 1}) as tab:
        tab.find(".tab-page").get_by_text("NaN or infinite").wait_for()
        tab.page.keyboard.press("ArrowRight")
        tab.wait_for_step(2)
