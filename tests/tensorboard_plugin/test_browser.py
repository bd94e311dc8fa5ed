"""From `fit` to what is seen: trained, logged, served and looked at with real parts.

The default is three epochs of tiny models. With KERAS_SEQATTN_SCREENSHOTS=folder they
train longer, and what a reader would see is kept there: the gallery of the README.
"""

import base64
import os
import re
from contextlib import nullcontext

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from tests.raised import check_message
from tests.tensorboard.logs import FixedProbe, spaced
from tests.tensorboard_plugin import browser as chrome
from tests.tensorboard_plugin.browser import SCREENSHOTS, Page, Server, Tab, expect
from tests.translator import tiny

pytestmark = pytest.mark.system
EPOCHS, PAIRS = (12, 6000) if SCREENSHOTS in os.environ else (3, 320)
LAST = EPOCHS  # the first step is 1
SENTENCES, UNITS, PIECES = 8, 48, 60
RUNS = {
    "bahdanau": lambda: ks.BahdanauAttention(UNITS),
    "luong": lambda: ks.LuongAttention("general"),
}
CLOSE = 1e-3


class Logs:
    """Two runs, and what was written: `pictures[run][step - 1][sentence]`."""

    def __init__(self, folder):
        self.folder, self.pictures = folder, {}
        task = ks.data.tasks.numbers("en", "fr", train=PAIRS, validation=SENTENCES)
        self.sources = list(task.validation.source)
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
        texts = task.validation.source, task.validation.target
        callback = ks.callbacks.AttentionCallback(
            translator, *texts, log_dir=self.folder / run, beam=3
        )
        written, pictures = [], callback.probe.pictures
        callback.probe.pictures = lambda: written.append(pictures()) or written[-1]
        options = {"shuffle": False, "verbose": 0, "callbacks": [callback]}
        model.fit(translator.dataset(task.train, 64), epochs=EPOCHS, **options)
        return written

    def weights(self, run="bahdanau", step=LAST, sentence=0, hypothesis=0):
        """Of the only head: `[target, source]`."""
        return self.picture(run, step, sentence)["hypotheses"][hypothesis]["weights"][0]

    def picture(self, run="bahdanau", step=LAST, sentence=0):
        return self.pictures[f"{run}/validation"][step - 1][sentence]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return Logs(tmp_path_factory.mktemp("attention"))


@pytest.fixture(scope="module")
def trained(browser, logs, tmp_path_factory):
    """A TensorBoard that has read the logs, with the loader that it takes by itself."""
    printed = tmp_path_factory.mktemp("server") / "printed.txt"
    with Server(logs.folder, printed, ["--reload_interval=1"]) as server:
        server.until(lambda: last_steps(server) == dict.fromkeys(logs.pictures, LAST))
        yield server


@pytest.fixture(scope="module")
def shared_tab(browser, trained):
    with Tab(browser, trained) as tab:
        yield tab


def last_steps(server):
    """Of the first sentence, by run."""
    runs = server.ask("runs").json["runs"]
    return {run: about["sentences"][0]["last"] for run, about in runs.items()}


def label(piece):
    return "⏎" if piece == "</s>" else piece


def assert_shows(table, picture, weights, hypothesis=0):
    rows, columns, values = table
    tokens = picture["hypotheses"][hypothesis]["tokens"]
    assert rows == [label(piece) for piece, *_ in tokens]
    assert columns == [label(piece) for piece, *_ in picture["source"]["tokens"]]
    np.testing.assert_allclose(values, weights, atol=CLOSE)


def test_first_picture(tab, logs, tmp_path):
    tab.open()
    tab.wait_for_step(LAST)
    picture, weights = logs.picture(), logs.weights()
    assert_shows(*tab.csv(), picture, weights)
    tokens = picture["hypotheses"][0]["tokens"]
    assert tab.texts(".av-left .av-label") == [label(piece) for piece, *_ in tokens]
    assert tab.texts(".list-text") == logs.sources
    assert tab.save("SVG").startswith(b"<?xml") and tab.save("PNG")[1:4] == b"PNG"
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    cells = tab.find(".av-cells").first
    box = cells.bounding_box()
    x, y = (column + 0.5) / weights.shape[1], (row + 0.5) / weights.shape[0]
    cells.click(position={"x": x * box["width"], "y": y * box["height"]})  # it stays
    assert abs(float(tab.find(".av-exact").first.inner_text()) - weights.max()) <= CLOSE
    tab.screenshot("attention", tmp_path)
    tab.page.keyboard.press("?")
    tab.find("dialog").get_by_text("Attention is no explanation").wait_for()
    tab.screenshot("help", tmp_path)
    tab.page.keyboard.press("Escape")
    expect(tab.find("dialog")).to_be_hidden()


def test_slider_and_player(tab, logs, tmp_path):
    tab.open()
    tab.wait_for_step(LAST)
    press = tab.page.keyboard.press
    press("Home")
    for step in range(1, EPOCHS + 1):
        tab.wait_for_step(step)
        if step in (1, 2, LAST):  # browsers stop a page that saves many files
            assert_shows(*tab.csv(), logs.picture(step=step), logs.weights(step=step))
        press("ArrowRight")
    tab.find(".tab-steps input").click(position={"x": 4, "y": 8})
    tab.wait_for_step(1)
    tab.screenshot("first-step", tmp_path)
    press("Space")
    tab.wait_for_step(LAST)
    tab.find(".tab-steps button").get_by_text("Play").wait_for()


def test_two_runs(tab, logs, tmp_path):
    picture = logs.picture()
    reference = len(picture["hypotheses"]) - 1
    tab.open(run="bahdanau/validation", hypothesis=reference)
    tab.wait_for_step(LAST)
    tab.find("#tab-other").select_option("luong/validation")
    tab.find(".av-heat").nth(2).wait_for()
    one, two = (logs.weights(run, hypothesis=reference) for run in RUNS)
    for table, weights in zip(tab.csv(), (one, two, two - one), strict=True):
        assert_shows(table, picture, weights, reference)
    tab.screenshot("two-runs", tmp_path)
    tab.find("#tab-run").select_option("luong/validation")
    tab.find(".av-heat").nth(2).wait_for(state="hidden")  # no other run is left
    assert_shows(*tab.csv(), picture, two, reference)


def test_words_and_themes(browser, trained, logs, tmp_path):
    picture = logs.picture()
    reference = len(picture["hypotheses"]) - 1
    with Tab(browser, trained, dark=True, hypothesis=reference) as tab:
        tab.wait_for_step(LAST)
        root, body = tab.find("html"), tab.find("body")
        assert root.get_attribute("data-theme") == "dark" and brightness(body) < 40
        tab.find(".av-toolbar").get_by_text("Words").click()
        [(rows, columns, _)] = tab.csv()
        assert rows == picture["reference"].split()
        assert columns == picture["source"]["text"].split()
        tab.find(".av-heat .av-focus").first.focus()
        tab.page.keyboard.press("ArrowDown")  # the crosshair, at the first cell
        tab.screenshot("words", tmp_path)
        tab.page.get_by_label("light or dark theme").click()
        tab.page.get_by_role("menuitem").get_by_text("Light").click()
        expect(root).to_have_attribute("data-theme", "light")
        assert brightness(body) > 215


def brightness(element):
    colour = element.evaluate("node => getComputedStyle(node).backgroundColor")
    return np.mean([int(n) for n in re.findall(r"\d+", colour)[:3]])


def test_links_lead_there_and_back(tab, logs):
    link = {"run": "luong/validation", "sentence": "attention/002", "step": 2}
    tab.open(**link, view="heat", head="nonsense")
    tab.wait_for_step(2)
    assert_shows(*tab.csv(), logs.picture("luong", 2, 2), logs.weights("luong", 2, 2))
    for key in ("ArrowDown", "ArrowLeft", "w"):
        tab.page.keyboard.press(key)
    tab.find(".av-toolbar").get_by_text("Reading").click()
    tab.find("#tab-other").select_option("bahdanau/validation")
    link |= {"other": "bahdanau/validation", "sentence": "attention/003", "step": 1}
    link |= {"unit": "word", "view": "reading"}
    keys = set(chrome.fragment(link).split("&"))
    tab.page.wait_for_url(lambda url: set(url.split("#")[1].split("&")) == keys)
    tab.page.evaluate("location.hash = 'seq_attention&p.seq_attention.step=2'")
    tab.wait_for_step(2)
    assert_shows(*tab.csv(), logs.picture(step=2), logs.weights(step=2))


def test_table(tab, logs, tmp_path):
    tab.open(view="heat")
    tab.wait_for_step(LAST)
    tab.find("button").get_by_text("All measures").click()
    tab.find(".list-rows th").get_by_text("entropy").click()
    metrics = [logs.picture(sentence=i)["metrics"] for i in range(SENTENCES)]
    entropies = [each["entropy"] for each in metrics]
    numbers = [f"{value:.2f}" for value in sorted(entropies, reverse=True)]
    expect(tab.find("tbody .list-number")).to_have_text(numbers)
    tab.screenshot("table", tmp_path)
    bound = round(np.median(entropies), 4)
    tab.page.keyboard.press("/")
    tab.page.keyboard.type(f"thousand entropy<{bound:.4f}")
    pairs = zip(logs.sources, entropies, strict=True)
    found = [text for text, x in pairs if "thousand" in text and x < bound]
    expect(tab.find("tbody tr")).to_have_count(len(found))
    assert sorted(tab.texts(".list-text")) == sorted(found)
    tab.find("#list-filter").fill("entropy<low")
    expect(tab.find(".list-hint")).to_contain_text("“entropy<low” is not understood")


def test_new_steps_appear_by_themselves(tab, trained, logs):
    """Written by the op, without any metrics, while the tab is open."""
    writer = tf.summary.create_file_writer(str(logs.folder / "op"))

    def write(step):
        with writer.as_default(step=step):
            ks.tensorboard.attention("word", [[1.0]], ["ein"], ["one"])
        writer.flush()
        trained.until(lambda: last_steps(trained).get("op") == step)

    write(1)
    tab.open(run="op")
    tab.wait_for_step(1)
    write(7)
    tab.page.locator(".reload-button").click()
    tab.wait_for_step(7)
    assert tab.csv() == [(["one"], ["ein"], [[1.0]])]
    writer.close()


def test_layers_and_self_attention(tab, trained, logs, tmp_path):
    """Three kinds of attention, each asked for alone, with its own tokens."""
    folder = logs.folder / "layers"
    made = layered_picture()
    callback = ks.callbacks.AttentionCallback(tiny.untrained(), ["a b"], log_dir=folder)
    callback.probe = FixedProbe(made)
    callback.write(1)
    callback.close()
    name = "layers/validation"
    trained.until(lambda: last_steps(trained).get(name) == 1)
    tab.open(run=name)
    tab.wait_for_step(1)
    assert_shows(*tab.csv(), made, made["hypotheses"][0]["weights"][0])
    tab.requests.clear()
    for choice, value, name, corner in CHOICES:
        tab.find(choice).select_option(label=value)
        label = re.compile(f"{name}. Arrow keys")
        map_ = tab.find(".av-heat:visible")
        expect(map_.locator(".av-scroll")).to_have_attribute("aria-label", label)
        expect(map_.locator(".av-corner")).to_have_text(corner)
        said = made["alignments"][name]["hypotheses"][0]
        [(rows, columns, values)] = tab.csv()
        np.testing.assert_allclose(values, said["weights"].mean(axis=0), atol=CLOSE)
        known = {"</s>": "⏎", "<s>": "▸"}
        assert rows == [known.get(piece, piece) for piece, *_ in said["tokens"]]
        assert columns == (["a", "b", "⏎"] if "source →" in corner else rows)
    assert sum("/series?" in url for url in tab.requests) == len(CHOICES)
    tab.find(".av-tile").nth(2).click()
    [(*_, values)] = tab.csv()
    np.testing.assert_allclose(values, said["weights"][1], atol=CLOSE)
    for key, kind, layer in [("a", "target source", "decoder/layer 1")] + NEXT:
        tab.page.keyboard.press(key)
        expect(tab.find("#tab-kind")).to_have_value(kind)
        expect(tab.find("#tab-layer")).to_have_value(layer)
    tab.find("button").get_by_text("All layers").click()
    layers = tab.find(".tab-layer")
    expect(layers.locator("h2")).to_have_text(["layer 1", "layer 2"])
    layers.nth(0).locator(".av-tile").nth(2).click()
    expect(tab.find("#tab-layer")).to_have_value("decoder/layer 1")
    expect(layers.locator("[aria-pressed=true]")).to_contain_text("head 2")
    tab.find("#tab-run").select_option("bahdanau/validation")
    for each in ("#tab-layer", ".tab-overview"):
        expect(tab.find(each)).to_be_hidden()


KIND, LAYER = "#tab-kind", "#tab-layer"
CHOICES = [
    (LAYER, "layer 2", "decoder/layer 2", "source →target ↓"),
    (LAYER, "layer 1", "decoder/layer 1", "source →target ↓"),
    (KIND, "within the source", "encoder/self/layer 1", "source →source ↓"),
    (KIND, "within the target", "decoder/self/layer 1", "target →target ↓"),
]
NEXT = [("l", "target source", "decoder/layer 2"), ("l", "target source", "")]


def layered_picture():
    """A picture with `alignments`, each of two heads."""
    source, target = spaced("a", "b"), spaced("x", "y", "z")
    own = target[0], [["<s>", 0, 0], *target[1][:-1]]
    random = np.random.default_rng(0)

    def made(said, source_tokens, heads=2, **sides):
        size = len(said[1]), len(source_tokens or said[1])
        weights = random.dirichlet(np.ones(size[1]), (heads, size[0]))
        return picture(*source, [hypothesis(*said, weights)], **sides)

    one, tokens = made(target, source[1], 1), source[1]
    sides = {"rows": "target", "columns": "source"}
    one["alignments"] = {
        f"decoder/layer {n}": made(target, tokens, **sides) for n in (1, 2)
    }
    sides = {"rows": "source", "columns": "source"}
    one["alignments"]["encoder/self/layer 1"] = made(source, tokens, **sides)
    sides = {"rows": "target", "columns": "target"}
    one["alignments"]["decoder/self/layer 1"] = made(own, None, **sides)
    return one


def test_no_data_and_unknown_values(tab, tmp_path):
    with tab.answering({"runs": {"runs": {}}}):
        tab.find(".tab-page").get_by_text("AttentionCallback").wait_for()
        tab.screenshot("no-data", tmp_path)
    # JSON has no NaN: the server writes null. "NaN" may be a token.
    sentence = {"tag": "p/0", "text": "NaN", "last": 0}
    metrics = {"entropy": None, "overlap": 0.25, "bleu": None}
    one = {"kind": "free", "rank": 0, "text": "NaN", "score": None, "shape": [1, 1, 1]}
    one["tokens"] = [["NaN", 0, 3]]
    one["weights"] = base64.b64encode(np.float16(1).tobytes()).decode()
    step = {"step": 0, "wall_time": 0, "hypotheses": [one], "metrics": metrics}
    source = {"text": "NaN", "tokens": [["NaN", 0, 3]]}
    answers = {
        "runs": {"runs": {"r": {"sentences": [sentence], "tables": ["p/table"]}}},
        "series": {"source": source, "reference": None, "gold": None, "steps": [step]},
        "table": {"steps": [{"step": 0, "rows": {"p/0": metrics}}]},
    }
    with tab.answering(answers):
        tab.wait_for_step(0)
        assert tab.csv() == [(["NaN"], ["NaN"], [[1.0]])]
        heads = tab.find(".list-rows th")
        expect(heads).to_have_text(["Sentence", "overlap", "entropy", "BLEU"])
        expect(tab.find("tbody td:not(:first-child)")).to_have_text(["0.25", "–", "–"])


def test_without_a_host(browser, trained):
    address = f"http://127.0.0.1:{trained.port}/"
    with Page(browser.new_page(color_scheme="dark"), address) as alone:
        alone.is_bad = lambda kind: False  # there is no favicon
        alone.page.goto(f"{address}data/plugin_entry.html?name=seq_attention")
        alone.find(".av-cells").first.wait_for()
        expect(alone.find("html")).to_have_attribute("data-theme", "dark")
        alone.page.keyboard.press("Home")
        alone.find(".tab-step b").get_by_text("1", exact=True).wait_for()


def test_server_that_stopped(tab, logs):
    tab.open()
    tab.wait_for_step(LAST)
    tab.page.route("**/series*", lambda route: route.abort())
    tab.find("tbody tr").nth(3).click()
    tab.find(".tab-page").get_by_text("TensorBoard does not answer").wait_for()
    tab.page.unroute("**/series*")
    tab.find("button").get_by_text("Try again").click()
    tab.wait_for_step(LAST)
    assert_shows(*tab.csv(), logs.picture(sentence=3), logs.weights(sentence=3))
    tab.complaints.clear()  # of the request that failed


@pytest.mark.parametrize("ci, outcome", [("", pytest.skip), ("true", pytest.fail)])
def test_without_chromium(monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.warns() if ci == "" else nullcontext():
        with pytest.raises(outcome.Exception) as told:
            chrome.chromium().__enter__()
    what = "The tab was not tried in a browser"
    check_message(str(told.value), what, "chromium=None")
