"""The viewer in a real browser: what pointer and keys do."""

import numpy as np
import pytest

from tests.tensorboard_plugin.browser import chromium
from tests.tensorboard_plugin.pictures import as_json, german, plain, weights
from tests.tensorboard_plugin.stage import Stage

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def stage(browser):
    with Stage(browser) as stage:
        yield stage


def test_all_views_are_linked(stage):
    stage.show(as_json(german()))
    stage.point(7, 4)
    assert stage.read().startswith("curiosity looked at Neu 0.")
    assert stage.marked(".av-left") == ["▁curiosity"]
    assert stage.marked(".av-top") == ["▁Neu"]
    assert stage.marked(".av-side-source") == ["▁Neu"]
    assert stage.marked(".av-side-target") == ["▁curiosity"]
    assert stage.marked(".av-reading") == ["Neu", "curiosity"]
    lines = stage.page.locator(".av-lines path.av-on").count()
    assert lines == (weights(german())[0, 7] >= 0.04).sum()

    stage.page.locator(".av-text >> nth=1").get_by_text("surprised").hover()
    assert stage.marked(".av-left") == ["▁surprised"]
    assert stage.marked(".av-top") == []
    assert stage.read().startswith("surprised spread its attention: entropy ")

    stage.page.locator(".av-side-source .av-label").nth(9).hover()
    assert stage.marked(".av-top") == ["▁überrascht"]
    assert stage.read().startswith("überrascht received ")

    stage.page.mouse.move(5, 5)
    assert stage.read().startswith("Point at a cell")
    assert stage.page.locator(".av-on:visible").count() == 0


def test_shades_are_the_weights(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.page.locator(".av-text >> nth=1").get_by_text("surprised").hover()
    shades = (
        stage.page.locator(".av-text")
        .first.locator(".av-label")
        .evaluate_all("all => all.map(node => node.style.background)")
    )
    row = weights(picture)[0, 8]
    assert [shade != "" for shade in shades] == (row > 0.005).tolist()
    assert shades[int(row.argmax())] != shades[int(np.argsort(row)[-2])]


def test_keys_move_the_crosshair_and_say_where_it_is(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.page.locator(".av-heat .av-scroll").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "End", "ArrowLeft"):
        stage.page.keyboard.press(key)
    live = stage.page.locator("[aria-live]")
    value = weights(picture)[0, 1, 13]
    assert live.inner_text() == f"researcher looked at . {value:.4f}"
    stage.page.mouse.move(5, 5)
    assert stage.marked(".av-left") == ["▁researcher"]  # it stays
    stage.page.keyboard.press("Escape")
    assert stage.marked(".av-left") == []
    stage.page.keyboard.press("Control+ArrowDown")  # is the browser's
    assert stage.marked(".av-left") == []


def test_keys_scroll(stage):
    stage.show(as_json(plain(80, 80)))
    scroll = stage.page.locator(".av-heat .av-scroll").first
    scroll.focus()
    for key in ("Home", "End", "PageDown"):
        stage.page.keyboard.press(key)
    inside = """node => {
      const view = node.getBoundingClientRect();
      const cell = node.querySelector(".av-band-cell").getBoundingClientRect();
      const [left, top] = [".av-left", ".av-top"].map((name) =>
        node.querySelector(name).getBoundingClientRect());
      return cell.left >= left.right - 1 && cell.right <= view.right + 1 &&
        cell.top >= top.bottom - 1 && cell.bottom <= view.bottom + 1;
    }"""
    assert scroll.evaluate(inside)
    stage.page.keyboard.press("Home")
    stage.page.keyboard.press("PageUp")
    assert scroll.evaluate(inside)


def test_a_pointer_that_rests_while_a_slider_moves(stage):
    stage.show(as_json(german()))
    stage.point(4, 2)
    later = german(seed=5)
    stage.show(as_json(later))
    assert stage.read() == f"irre looked at bändig {weights(later)[0, 4, 2]:.4f}"
    stage.page.mouse.move(5, 5)
    assert stage.read().startswith("Point at a cell")


def test_a_click_keeps_the_crosshair(stage):
    stage.show(as_json(german()))
    stage.point(4, 2)
    stage.page.mouse.down()
    stage.page.mouse.up()
    stage.page.mouse.move(5, 5)
    assert stage.read().startswith("irre looked at bändig")
    stage.show(as_json(german(seed=5)))  # the next step of a slider
    assert stage.read().startswith("irre looked at bändig")
    stage.show(as_json(plain(3, 3)))
    assert "spread its attention" not in stage.read()


def test_labels_stay_while_a_slider_moves(stage):
    stage.show(as_json(german()))
    label = stage.page.locator(".av-left .av-label").first.element_handle()
    stage.show(as_json(german(seed=1)))
    assert label.evaluate("node => node.isConnected")
