"""From `fit` to what is seen: trained, logged, served and looked at with real parts.

The default is three epochs of tiny models. With KERAS_SEQATTN_SCREENSHOTS=folder they
train longer, and what a reader would see is kept there: the gallery of the README.
"""

import base64
import json
import os
import re
import xml.etree.ElementTree
from contextlib import contextmanager, nullcontext

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.tensorboard_plugin.browser import (
    SCREENSHOTS,
    Tab,
    chromium,
    expect,
    fragment,
)
from tests.tensorboard_plugin.servers import Server

pytestmark = pytest.mark.system

EPOCHS, PAIRS = (12, 6000) if SCREENSHOTS in os.environ else (3, 1000)
LAST = EPOCHS - 1
SENTENCES, UNITS, PIECES = 8, 48, 60
RUNS = {
    "bahdanau": lambda: ks.BahdanauAttention(UNITS),
    "luong": lambda: ks.LuongAttention("general"),
}
CLOSE = 1e-3
SVG = "{http://www.w3.org/2000/svg}"


# Training -----------------------------------------------------------------------------


class Logs:
    """Two runs, and the pictures that were written: `pictures[run][step][sentence]`."""

    def __init__(self, folder):
        self.folder, self.pictures = folder, {}
        task = ks.data.tasks.numbers("en", "fr", train=PAIRS, validation=SENTENCES)
        self.texts = [
            ks.text.SentencePiece.learn(texts, PIECES, kind="bpe")
            for texts in (task.train.source, task.train.target)
        ]
        for run, attention in RUNS.items():
            self.pictures[f"{run}/validation"] = self.train(run, attention(), task)

    def train(self, run, attention, task):
        keras.utils.set_random_seed(1409)
        sizes = [text.vocabulary_size for text in self.texts]
        model = ks.Seq2Seq(
            source_embedding=keras.layers.Embedding(sizes[0], UNITS, mask_zero=True),
            encoder=ks.BiEncoder(UNITS // 2),
            decoder=ks.AttentionDecoder(ks.layers.BahdanauCell(UNITS, attention)),
            head=ks.layers.OutputHead(sizes[1]),
        )
        translator = ks.Translator(model, *self.texts, max_length=30)
        model.compile(
            keras.optimizers.Adam(5e-3, global_clipnorm=1.0),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        callback = ks.callbacks.AttentionCallback(
            translator,
            task.validation.source,
            task.validation.target,
            log_dir=self.folder / run,
            beam=3,
        )
        written, pictures = [], callback.probe.pictures
        callback.probe.pictures = lambda: written.append(pictures()) or written[-1]
        dataset = translator.dataset(task.train, batch_size=64)
        model.fit(
            dataset, epochs=EPOCHS, shuffle=False, verbose=0, callbacks=[callback]
        )
        return written

    def weights(self, run="bahdanau", step=LAST, sentence=0, hypothesis=0):
        """Of the only head: `[target, source]`."""
        found = self.picture(run, step, sentence)["hypotheses"][hypothesis]["weights"]
        return found[0]

    def picture(self, run="bahdanau", step=LAST, sentence=0):
        return self.pictures[f"{run}/validation"][step][sentence]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return Logs(tmp_path_factory.mktemp("attention"))


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(browser, logs, tmp_path_factory):
    """With the loader that TensorBoard takes by itself."""
    with serving(logs, tmp_path_factory.mktemp("server")) as server:
        yield server


@contextmanager
def serving(logs, folder, *flags):
    """TensorBoard, from when it has read the logs."""
    flags = ["--reload_interval=1", *flags]
    with Server(logs.folder, folder / "printed.txt", flags) as server:
        server.until(lambda: last_steps(server) == dict.fromkeys(logs.pictures, LAST))
        yield server


def last_steps(server):
    """Of the first sentence, by run."""
    runs = server.ask("runs").json["runs"]
    return {run: about["sentences"][0]["last"] for run, about in runs.items()}


# What is seen -------------------------------------------------------------------------


def label(piece):
    return {"</s>": "⏎"}.get(piece, piece)


def assert_shows(table, picture, weights, hypothesis=0):
    """Tokens and values of what is drawn are those that were written."""
    rows, columns, values = table
    tokens = picture["hypotheses"][hypothesis]["tokens"]
    assert rows == [label(piece) for piece, *_ in tokens]
    assert columns == [label(piece) for piece, *_ in picture["source"]["tokens"]]
    np.testing.assert_allclose(values, weights, atol=CLOSE)


def assert_first_picture(tab, logs):
    """Of the first run and sentence, and of the last step: in labels, cells, export."""
    tab.wait_for_step(LAST)
    picture, weights = logs.picture(), logs.weights()
    assert_shows(*tab.csv(), picture, weights)
    tokens = picture["hypotheses"][0]["tokens"]
    assert tab.texts(".av-left .av-label") == [label(piece) for piece, *_ in tokens]
    for i, j in [(0, 0), (len(tokens) - 1, 1), heaviest(weights)]:
        assert abs(exact(tab, i, j, weights.shape) - weights[i, j]) <= CLOSE


def heaviest(weights):
    """Row and column of what is looked at most."""
    return np.unravel_index(weights.argmax(), weights.shape)


def exact(tab, row, column, shape):
    """The number that is shown while the pointer is at a cell."""
    cells = tab.find(".av-cells").first
    box = cells.bounding_box()
    x = (column + 0.5) / shape[1] * box["width"]
    y = (row + 0.5) / shape[0] * box["height"]
    cells.hover(position={"x": x, "y": y})
    return float(tab.find(".av-exact").first.inner_text())


def test_first_picture(browser, server, logs, tmp_path):
    with Tab(browser, server) as tab:
        assert_first_picture(tab, logs)
        sources = [logs.picture(sentence=i)["source"]["text"] for i in range(SENTENCES)]
        assert tab.texts(".tab-text") == sources
        weights = logs.weights()
        exact(tab, *heaviest(weights), weights.shape)
        tab.page.mouse.down()  # a click keeps the crosshair there
        tab.page.mouse.up()
        tab.screenshot("attention", tmp_path)
        tab.page.keyboard.press("?")
        tab.find("dialog").get_by_text("Attention is no explanation").wait_for()
        tab.screenshot("help", tmp_path)
        tab.page.keyboard.press("Escape")
        expect(tab.find("dialog")).to_be_hidden()


def test_other_loader_behind_a_path_prefix(browser, logs, tmp_path):
    flags = "--load_fast=false", "--path_prefix=/some/where"
    with serving(logs, tmp_path, *flags) as server, Tab(browser, server) as tab:
        assert "/some/where/#seq_attention" in tab.page.url
        assert_first_picture(tab, logs)


def test_slider_and_player(browser, server, logs, tmp_path):
    with Tab(browser, server) as tab:
        tab.wait_for_step(LAST)
        press = tab.page.keyboard.press
        press("Home")
        for step in range(EPOCHS):
            tab.wait_for_step(step)
            if step in (0, 1, LAST):  # browsers stop a page that saves many files
                picture, weights = logs.picture(step=step), logs.weights(step=step)
                assert_shows(*tab.csv(), picture, weights)
            press("ArrowRight")
        slider = tab.find(".tab-steps input")
        slider.click(position={"x": 4, "y": 8})
        tab.wait_for_step(0)
        tab.screenshot("first-step", tmp_path)
        press("Space")
        tab.wait_for_step(LAST)
        tab.find(".tab-steps button").get_by_text("Play").wait_for()


def test_two_runs(browser, server, logs, tmp_path):
    reference = len(logs.picture()["hypotheses"]) - 1
    link = {"run": "bahdanau/validation", "hypothesis": reference}
    with Tab(browser, server, link) as tab:
        tab.wait_for_step(LAST)
        tab.find("#tab-other").select_option("luong/validation")
        tab.find(".av-heat").nth(2).wait_for()
        shown, other, difference = tab.csv()
        weights = [logs.weights(run, hypothesis=reference) for run in RUNS]
        assert_shows(shown, logs.picture(), weights[0], reference)
        assert_shows(other, logs.picture(), weights[1], reference)
        assert_shows(difference, logs.picture(), weights[1] - weights[0], reference)
        tab.screenshot("two-runs", tmp_path)
        tab.find("#tab-run").select_option("luong/validation")
        tab.find(".av-heat").nth(2).wait_for(state="hidden")  # no other run is left
        [shown] = tab.csv()
        assert_shows(shown, logs.picture(), weights[1], reference)


def test_words(browser, server, logs, tmp_path):
    reference = len(logs.picture()["hypotheses"]) - 1
    with Tab(browser, server, {"hypothesis": reference}, dark=True) as tab:
        tab.wait_for_step(LAST)
        tab.find(".av-toolbar").get_by_text("Words").click()
        [(rows, columns, values)] = tab.csv()
        picture = logs.picture()
        assert rows == picture["reference"].split()
        assert columns == picture["source"]["text"].split()
        words = [
            word_numbers(picture["source"]["tokens"]),
            word_numbers(picture["hypotheses"][reference]["tokens"]),
        ]
        merged = ks.metrics.merge_subwords(logs.weights(hypothesis=reference), *words)
        np.testing.assert_allclose(values, merged, atol=CLOSE)
        tab.find(".av-heat .av-focus").first.focus()
        tab.page.keyboard.press("ArrowDown")  # the crosshair, at the first cell
        assert abs(float(tab.find(".av-exact").inner_text()) - merged[0, 0]) <= CLOSE
        tab.screenshot("words", tmp_path)


def word_numbers(tokens):
    """Each piece with a ▁ begins a word; the end is in none."""
    begins = np.cumsum([piece.startswith("▁") for piece, *_ in tokens]) - 1
    return [*begins[:-1], -1]


def test_svg(browser, server, logs):
    with Tab(browser, server) as tab:
        tab.wait_for_step(LAST)
        svg = xml.etree.ElementTree.fromstring(tab.save("SVG"))
        png, page = tab.save("PNG"), json.loads(tab.save("JSON"))
    assert svg.tag == f"{SVG}svg"
    texts = {"".join(node.itertext()) for node in svg.iter(f"{SVG}text")}
    picture = logs.picture()
    tokens = picture["source"]["tokens"] + picture["hypotheses"][0]["tokens"]
    assert {label(piece) for piece, *_ in tokens} <= texts
    assert png.startswith(b"\x89PNG")
    weights = page["hypotheses"][0]["weights"]  # row after row
    np.testing.assert_allclose(weights, logs.weights().ravel(), atol=CLOSE)


def test_dark_mode(browser, server):
    with Tab(browser, server, dark=True) as tab:
        tab.wait_for_step(LAST)
        root, body = tab.find("html"), tab.find("body")
        assert root.get_attribute("data-theme") == "dark"
        assert brightness(body) < 40
        tab.page.get_by_label("light or dark theme").click()
        tab.page.get_by_role("menuitem").get_by_text("Light").click()
        expect(root).to_have_attribute("data-theme", "light")
        assert brightness(body) > 215


def brightness(element):
    colour = element.evaluate("node => getComputedStyle(node).backgroundColor")
    return np.mean([int(n) for n in re.findall(r"\d+", colour)[:3]])


def test_links_lead_there_and_back(browser, server, logs):
    link = {"run": "luong/validation", "sentence": "attention/002", "step": 1}
    with Tab(browser, server, {**link, "view": "heat", "head": "nonsense"}) as tab:
        tab.wait_for_step(1)
        picture, weights = logs.picture("luong", 1, 2), logs.weights("luong", 1, 2)
        assert_shows(*tab.csv(), picture, weights)
        for key in ("ArrowDown", "ArrowLeft", "w"):
            tab.page.keyboard.press(key)
        tab.find(".av-toolbar").get_by_text("Reading").click()
        tab.find("#tab-other").select_option("bahdanau/validation")
        link = {"run": "luong/validation", "other": "bahdanau/validation"}
        link |= {"sentence": "attention/003", "step": 0}
        link |= {"unit": "word", "view": "reading"}
        tab.page.wait_for_url(
            lambda url: keys_of(url) == set(fragment(link).split("&"))
        )
        tab.page.evaluate("location.hash = 'seq_attention&p.seq_attention.step=1'")
        tab.wait_for_step(1)
        assert_shows(*tab.csv(), logs.picture(step=1), logs.weights(step=1))


def keys_of(url):
    return set(url.split("#")[1].split("&"))


def test_table(browser, server, logs, tmp_path):
    with Tab(browser, server, {"view": "heat"}) as tab:
        tab.wait_for_step(LAST)
        tab.find("button").get_by_text("All metrics").click()
        tab.find(".tab-rows th").get_by_text("entropy").click()
        metrics = [logs.picture(sentence=i)["metrics"] for i in range(SENTENCES)]
        entropies = sorted((m["entropy"] for m in metrics), reverse=True)
        expect(tab.find("tbody .tab-number")).to_have_text(
            [f"{value:.2f}" for value in entropies]
        )
        tab.screenshot("table", tmp_path)
        bound = np.median(entropies)
        tab.page.keyboard.press("/")
        tab.page.keyboard.type(f"thousand entropy<{bound:.4f}")
        sources = [logs.picture(sentence=i)["source"]["text"] for i in range(SENTENCES)]
        found = [
            source
            for source, numbers in zip(sources, metrics, strict=True)
            if "thousand" in source and numbers["entropy"] < round(bound, 4)
        ]
        expect(tab.find("tbody tr")).to_have_count(len(found))
        assert sorted(tab.texts(".tab-text")) == sorted(found)
        tab.find("#tab-filter").fill("entropy<low")
        expect(tab.find(".tab-hint")).to_contain_text("Not understood: entropy<low")


def test_new_steps_appear_by_themselves(browser, server, logs):
    """Written by the op, without any metrics, while the tab is open."""
    writer = tf.summary.create_file_writer(str(logs.folder / "op"))

    def write(step):
        with writer.as_default(step=step):
            ks.tensorboard.attention("word", [[1.0]], ["ein"], ["one"])
        writer.flush()
        server.until(lambda: last_steps(server).get("op") == step)

    write(1)
    with Tab(browser, server, {"run": "op"}) as tab:
        tab.wait_for_step(1)
        write(7)
        tab.page.locator(".reload-button").click()
        tab.wait_for_step(7)
        assert tab.csv() == [(["one"], ["ein"], [[1.0]])]
    writer.close()


# What is said where there is nothing to see -------------------------------------------


def test_no_data(browser, server, tmp_path):
    with Tab(browser, server, answers={"runs": {"runs": {}}}) as tab:
        tab.find(".tab-page").get_by_text("AttentionCallback").wait_for()
        tab.screenshot("no-data", tmp_path)


def test_what_is_not_known_is_a_dash(browser, server):
    """JSON has no NaN: the server writes null. "NaN" may be a token."""
    sentence = {"tag": "p/0", "text": "NaN", "last": 0}
    metrics = {"entropy": None, "overlap": 0.25, "bleu": None}
    found = {
        "kind": "free",
        "rank": 0,
        "text": "NaN",
        "score": None,
        "tokens": [["NaN", 0, 3]],
        "shape": [1, 1, 1],
        "weights": base64.b64encode(np.float16(1).tobytes()).decode(),
    }
    step = {"step": 0, "wall_time": 0, "hypotheses": [found], "metrics": metrics}
    source = {"text": "NaN", "tokens": [["NaN", 0, 3]]}
    answers = {
        "runs": {"runs": {"r": {"sentences": [sentence], "tables": ["p/table"]}}},
        "series": {"source": source, "reference": None, "gold": None, "steps": [step]},
        "table": {"steps": [{"step": 0, "rows": {"p/0": metrics}}]},
    }
    with Tab(browser, server, answers=answers) as tab:
        tab.wait_for_step(0)
        assert tab.csv() == [(["NaN"], ["NaN"], [[1.0]])]
        heads = tab.find(".tab-rows th")
        expect(heads).to_have_text(["Sentence", "overlap", "entropy", "BLEU"])
        expect(tab.find("tbody td:not(:first-child)")).to_have_text(["0.25", "–", "–"])


def test_without_a_host(browser, server):
    """As a page of its own: no messages, no link; the theme of the system."""
    page = browser.new_page(color_scheme="dark")
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(
        f"http://127.0.0.1:{server.port}/data/plugin_entry.html?name=seq_attention"
    )
    page.locator(".av-cells").first.wait_for()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Home")
    page.locator(".tab-step b").get_by_text("0", exact=True).wait_for()
    page.close()
    assert complaints == []


def test_server_that_stopped(browser, server, logs):
    with Tab(browser, server) as tab:
        tab.wait_for_step(LAST)
        tab.page.route("**/series*", lambda route: route.abort())
        tab.find("tbody tr").nth(3).click()
        tab.find(".tab-page").get_by_text("TensorBoard does not answer").wait_for()
        tab.page.unroute("**/series*")
        tab.find("button").get_by_text("Try again").click()
        tab.wait_for_step(LAST)
        assert_shows(*tab.csv(), logs.picture(sentence=3), logs.weights(sentence=3))
        tab.complaints.clear()  # of the request that failed


# Where there is no browser ------------------------------------------------------------


@pytest.mark.parametrize("ci, outcome", [("", pytest.skip), ("true", pytest.fail)])
def test_without_chromium(monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.warns() if ci == "" else nullcontext():
        with pytest.raises(outcome.Exception) as told:
            chromium().__enter__()
    message = str(told.value)
    assert "The tab was not tried in a browser. Expected Chromium and" in message
    assert message.endswith(
        "Run tools/install_chromium.sh and pip install -e '.[test]'."
    )
