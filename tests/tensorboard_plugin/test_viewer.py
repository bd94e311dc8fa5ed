"""The viewer in a real browser: what is drawn, what pointer and keys do."""

import numpy as np
import pytest

from keras_seqattn.metrics.confidence import merge_subwords
from tests.tensorboard_plugin import pictures
from tests.tensorboard_plugin.pictures import ROWS, as_json, german, plain, weights
from tests.tensorboard_plugin.stage import CELLS

pytestmark = pytest.mark.system
CLOSE = 1e-3


def assert_close(values, expected):
    np.testing.assert_allclose(values, expected, rtol=0, atol=CLOSE)


def test_cells_are_the_weights(stage):
    picture = german()
    stage.show(as_json(picture))
    assert stage.texts(".av-left .av-label") == ROWS
    assert stage.texts(".av-top .av-label") == pictures.COLUMNS
    stops = stage.run(
        """(async () => (await import("./scale.js")).legendValues({}, 256).map(
          (await import("./scale.js")).scaleOf("light").rgb))()"""
    )
    expected = np.array(stops)[np.rint(weights(picture)[0] * 256).astype(int)]
    assert np.abs(stage.colours() - expected).max() <= 2  # one of 256 levels
    [(rows, columns, values)] = stage.csv()
    assert (rows, columns) == (ROWS, pictures.COLUMNS)
    assert_close(values, weights(picture)[0])
    for row, column in [(0, 0), (4, 2), (11, 14)]:
        stage.point(row, column)
        said = float(stage.texts(".av-exact")[0])
        assert said == pytest.approx(weights(picture)[0, row, column], abs=CLOSE)


def test_words(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.choose("Words")
    assert stage.run("changes.at(-1).unit") == "word"
    [(rows, columns, values)] = stage.csv()
    assert columns == picture["source"]["text"].split()
    assert rows == picture["hypotheses"][0]["text"].split()
    source = [0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6, 6, -1]
    target = [0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 5, -1]
    assert_close(values, merge_subwords(weights(picture)[0], source, target))
    assert "Start and end tokens belong to no word" in stage.texts(".av-summary")[0]
    stage.choose("Tokens")
    assert stage.texts(".av-left .av-label") == ROWS
    stage.show(as_json(pictures.wide()))
    stage.set(unit="word")
    assert stage.texts(".av-top .av-label") == [*"注意力让模型看到整个句子。"]
    label = stage.find(".av-top .av-label").first
    assert label.get_attribute("transform") is None  # single characters stand upright


def test_views(stage):
    stage.show(as_json(german()))
    views = {"Heat map": ".av-heat", "Links": ".av-links", "Reading": ".av-reading"}
    for name in ("All", *views):
        stage.choose(name)
        for view, selector in views.items():
            seen = stage.find(f"{selector}:visible").count()
            assert seen == (name in ("All", view)), (name, view)


def test_links_are_drawn_by_weight(stage):
    picture = german()
    stage.show(as_json(picture))
    paths = stage.find(".av-lines path:visible")
    assert paths.count() == (weights(picture)[0] >= 0.04).sum()
    width = "x => Number(x.getAttribute('stroke-width'))"
    widths = paths.evaluate_all(f"all => all.map({width})")
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(0.8 + 5.2 * weights(picture).max(), abs=0.02)


def test_heads(stage):
    picture = german(heads=3)
    stage.show(as_json(picture))
    tiles = stage.find(".av-tile:visible")
    names = ["mean", "layer 1 head 1", "layer 1 head 2", "layer 1 head 3"]
    assert tiles.locator("span:first-child").all_inner_texts() == names
    assert_close(stage.values(), weights(picture).mean(0))
    tiles.nth(2).click()
    assert stage.run("changes.at(-1).head") == 1
    assert tiles.nth(2).get_attribute("aria-pressed") == "true"
    assert_close(stage.values(), weights(picture)[1])
    box = tiles.nth(3).locator(".av-cells").bounding_box()
    x, y = 0.5 * box["width"] / len(pictures.COLUMNS), 4.5 * box["height"] / len(ROWS)
    stage.page.mouse.move(box["x"] + x, box["y"] + y)
    assert stage.marked(".av-left") == ["▁irre"]  # in the large one, too
    assert stage.read().startswith("irre looked at Die ")
    stage.show(as_json(german()))  # has only one: the option is kept for the next
    assert stage.find(CELLS).count() == 1
    assert stage.run("viewer.options.head") == 1


def test_hypotheses(stage):
    picture = german()
    stage.show(as_json(picture))
    rows = stage.find("button.av-beam:visible")
    assert [text.split("\n") for text in rows.all_inner_texts()] == [
        ["1", picture["hypotheses"][0]["text"], "−4.21", "−0.35"],
        ["2", picture["hypotheses"][1]["text"], "−5.09", "−0.39"],
        ["reference", picture["hypotheses"][2]["text"], "−7.91", "–"],
    ]
    assert "BLEU" in stage.texts(".av-measures")[0]
    rows.nth(1).click()
    assert stage.run("changes.at(-1).hypothesis") == 1
    assert "other measures are of the best one" in stage.texts(".av-summary")[0]
    assert_close(stage.values(), weights(picture, 1)[0])
    stage.set(hypothesis=7)  # of a step that had more
    assert rows.nth(2).get_attribute("aria-pressed") == "true"


def test_gold_links(stage):
    stage.show(as_json(german()))
    box = stage.page.get_by_label("Gold links")
    assert box.is_disabled()
    assert "Gold links belong to the reference" in stage.texts(".av-summary")[0]
    stage.set(hypothesis=2)
    squares = stage.find(".av-sure").first
    assert squares.get_attribute("d").count("M") == 20  # tokens of the linked words
    box.uncheck()
    assert squares.get_attribute("d") == ""
    assert stage.run("changes.at(-1).gold") is False
    stage.show(as_json(plain(3, 3)))
    assert not box.is_visible()


def test_local_attention(stage):
    about = {"centre": [0.0, 2.5, None], "reach": 1.0}
    stage.show(as_json(plain(3, 6, **about)))
    window = stage.find(".av-window").first
    centre = stage.find(".av-centre").first
    assert [each.get_attribute("d").count("M") for each in (window, centre)] == [2, 2]
    assert "Dots are the predicted centres" in stage.texts(".av-summary")[0]
    stage.set(unit="word")
    assert window.get_attribute("d") == ""


@pytest.mark.parametrize("shape, least, most", [((3, 3), 48, 48), ((20, 24), 22, 30)])
def test_maps_use_their_room(stage, shape, least, most):
    """1280 pixels, without the margins and the links."""
    stage.show(as_json(plain(*shape)))
    assert least <= stage.find(CELLS).bounding_box()["width"] / shape[1] <= most
    stage.page.set_viewport_size({"width": 500, "height": 900})
    try:
        for kind in (".av-heat", ".av-links"):
            box = stage.find(f"{kind}:visible").bounding_box()
            assert 16 <= box["x"] and box["x"] + box["width"] <= 484
    finally:
        stage.page.set_viewport_size({"width": 1280, "height": 900})


def test_weights_that_are_not_normalised(stage):
    """Scaled by the largest weight, everywhere, and said so."""
    picture, large = plain(4, 5), plain(4, 5)
    for one, scale in ((picture, 1.0), (large, 2.5)):
        weights(one)[0] *= scale / weights(one).max()
    stage.show(as_json(picture))
    colours, widths = stage.colours(), stage.texts(".av-legends text")
    assert widths == ["0", "0.5", "1"]
    stage.show(as_json(large))
    assert np.abs(stage.colours().astype(int) - colours).max() <= 2
    assert stage.texts(".av-legends text") == ["0", "1.25", "2.5"]
    assert "weight, scaled by the largest" in stage.texts(".av-legends")[0]
    said = "The alignment is not normalised: it is scaled by its largest weight, 2.5."
    assert said in stage.texts(".av-summary")[0]
    assert stage.measure("entropy") == "–"
    assert_close(stage.values(), weights(large)[0])
    stage.find(".av-side-target .av-label").first.hover()
    total = weights(large)[0, 0].sum()
    assert f"spread its attention: weights sum to {total:.2f}" in stage.read()


def test_a_picture_that_cannot_be_drawn(stage):
    for change, received in [
        ({"weights": ""}, "0 numbers for the shape 1,12,15."),
        ({"shape": [1, 12, 14]}, "180 numbers for the shape 1,12,14."),
    ]:
        broken = as_json(german())
        broken["hypotheses"][0].update(change)
        stage.show(broken)
        assert stage.texts(".av-problem") == [
            "This picture cannot be drawn. The weights do not fit the tokens. Expected "
            f"12 x 15 for each head, received {received}"
        ]
    assert not stage.find(".av-content").is_visible()
    stage.show({"source": {"text": "a", "tokens": []}, "hypotheses": []})
    assert stage.texts(".av-problem") == [
        "This picture cannot be drawn. The picture has no hypothesis."
    ]
    stage.show(as_json(german()))
    assert stage.texts(".av-problem") == []
    assert stage.texts(".av-left .av-label") == ROWS


def test_host(stage):
    assert not stage.find(".attention-viewer").is_visible()  # nothing yet
    stage.show(as_json(german()))
    stage.set(unit="word", view="nonsense", head="__proto__")
    assert stage.run("[changes, viewer.options]") == [
        [],  # the reader has changed nothing
        {
            **{"unit": "word", "hypothesis": 0, "otherHypothesis": None},
            **{"head": "mean", "view": "all", "gold": True},
        },
    ]
    stage.run("viewer.destroy()")
    assert stage.find("#viewer").inner_html() == ""


def test_all_views_are_linked(stage):
    stage.show(as_json(german()))
    stage.point(7, 4)
    assert stage.read().startswith("curiosity looked at Neu 0.")
    assert stage.marked(".av-left") == ["▁curiosity"]
    assert stage.marked(".av-top") == ["▁Neu"]
    assert stage.marked(".av-side-source") == ["▁Neu"]
    assert stage.marked(".av-side-target") == ["▁curiosity"]
    assert stage.marked(".av-reading") == ["Neu", "curiosity"]
    lines = stage.find(".av-lines path.av-on").count()
    assert lines == (weights(german())[0, 7] >= 0.04).sum()
    stage.find(".av-text >> nth=1").get_by_text("surprised").hover()
    assert stage.marked(".av-left") == ["▁surprised"]
    assert stage.marked(".av-top") == []
    assert stage.read().startswith("surprised spread its attention: entropy ")
    stage.find(".av-side-source .av-label").nth(9).hover()
    assert stage.marked(".av-top") == ["▁überrascht"]
    assert stage.read().startswith("überrascht received ")
    stage.page.mouse.move(5, 5)
    assert stage.marked(".av-stage") == []
    # a text has a first token to show
    assert stage.marked(".av-reading") == ["The"]
    assert stage.read().startswith("The spread its attention: entropy 0.")
    assert stage.read().endswith("to read the weights.")


def test_shades_are_the_weights(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.find(".av-text >> nth=1").get_by_text("surprised").hover()
    labels = stage.find(".av-text").first.locator(".av-label")
    shades = labels.evaluate_all("all => all.map(node => node.style.background)")
    row = weights(picture)[0, 8]
    assert [shade != "" for shade in shades] == (row > 0.005).tolist()
    assert shades[int(row.argmax())] != shades[int(np.argsort(row)[-2])]


def test_keys_move_the_crosshair_and_say_where_it_is(stage):
    picture = german()
    stage.show(as_json(picture))
    stage.find(".av-heat .av-scroll").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "End", "ArrowLeft"):
        stage.page.keyboard.press(key)
    live = stage.find("[aria-live]")
    value = weights(picture)[0, 1, 13]
    assert live.inner_text() == f"researcher looked at . {value:.4f}"
    stage.page.mouse.move(5, 5)
    assert stage.marked(".av-left") == ["▁researcher"]  # it stays
    stage.page.keyboard.press("Escape")
    assert stage.marked(".av-left") == []
    stage.page.keyboard.press("Control+ArrowDown")  # is the browser's
    assert stage.marked(".av-left") == []


def test_keys_scroll_a_large_picture(stage):
    stage.show(as_json(plain(100, 100)))
    assert tuple(stage.size()) == (100, 100)
    assert stage.find(CELLS).bounding_box()["width"] / 100 >= 14
    scroll = stage.find(".av-heat .av-scroll").first
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
    label = stage.find(".av-left .av-label").first.element_handle()
    stage.point(4, 2)
    later = german(seed=5)
    stage.show(as_json(later))
    assert label.evaluate("node => node.isConnected")  # the labels stay
    assert stage.read() == f"irre looked at bändig {weights(later)[0, 4, 2]:.4f}"
    stage.page.mouse.move(5, 5)
    assert stage.read().endswith("to read the weights.")
    stage.point(4, 2)
    stage.page.mouse.down()  # a click keeps the crosshair
    stage.page.mouse.up()
    stage.page.mouse.move(5, 5)
    assert stage.read().startswith("irre looked at bändig")
    stage.show(as_json(german()))
    assert stage.read().startswith("irre looked at bändig")
    stage.show(as_json(plain(3, 3)))
    assert "spread its attention" not in stage.read()
