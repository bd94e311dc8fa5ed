"""Pictures: their JSON for a page, and their metrics by hand."""

import base64
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.pictures.picture_metrics import longest_common
from tests.tensorboard.logs import random_picture, spaced

HOSTILE = [
    *("<script>alert(1)</script>", "</script><!--", "\"'&amp;\\", "x" * 10_000, ""),
    *("\u202eright to left\u2066", "🦊\u200d🔥", "\u2028\u2029\x00\x1b[31m"),
    "\ud800",  # half a character
]


def translation(source, text, target_tokens, source_tokens, **about):
    shape = len(target_tokens), len(source_tokens)
    weights = np.random.default_rng(shape[0]).dirichlet(np.ones(shape[1]), shape[0])
    about = {"score": -1.25, "ranking": -0.5, "alignment": weights, **about}
    about |= {"source_tokens": source_tokens, "target_tokens": target_tokens}
    return ks.translator.Translation(source, text, **about)


def test_of_a_translation_and_of_a_blank_text():
    places = [("é", 0, 2), ("cole", 2, 6), ("</s>", 6, 6)]
    read = [ks.translator.Token(*place) for place in places]
    other = translation("École", "schools", ["▁school", "s"], read, ranking=-np.inf)
    pieces = ["▁school", "</s>"]
    best = translation("École", "school", pieces, read, alternatives=[other])
    made = ks.tensorboard.picture_of(best, reference="a school")
    assert made["version"] == 1 and made["gold"] is None
    assert made["reference"] == "a school" and "bleu" in made["metrics"]
    tokens = [["é", 0, 1], ["cole", 1, 5], ["</s>", 5, 5]]
    assert made["source"] == {"text": "École", "tokens": tokens}
    for said, known in zip(made["hypotheses"], (best, other), strict=True):
        np.testing.assert_allclose(said.pop("weights")[0], known.alignment, rtol=1e-6)
    common = {"kind": "free", "score": -1.25, "shape": [1, 2, 3]}
    common |= {"heads": None, "centre": None, "reach": None}
    first = {"rank": 0, "text": "school", "ranking": -0.5}
    second = {"rank": 1, "text": "schools", "ranking": None}
    assert made["hypotheses"] == [
        {**common, **first, "tokens": [["▁school", 0, 6], ["</s>", 6, 6]]},
        {**common, **second, "tokens": [["▁school", 0, 6], ["s", 6, 7]]},
    ]
    blank = translation(" ", "", ["y", "</s>"], [(" ", 0, 1), ("</s>", 1, 1)])
    made = ks.tensorboard.picture_of(blank)
    assert made["hypotheses"][0]["tokens"] == [["y", 0, 0], ["</s>", 0, 0]]
    json.loads(ks.tensorboard.to_json(made))


def test_json():
    made = random_picture(heads=2, score=-np.inf)
    found = json.loads(ks.tensorboard.to_json(made))
    [said], [known] = found["hypotheses"], made["hypotheses"]
    weights = np.frombuffer(base64.b64decode(said.pop("weights")), "<f2")
    np.testing.assert_array_equal(weights, known["weights"].astype("f2").ravel())
    assert said["shape"] == [2, 4, 3] and said["score"] is None
    del found["hypotheses"]
    assert found == {name: made[name] for name in found}


@pytest.mark.parametrize("word", HOSTILE, ids=lambda word: ascii(word)[:20])
def test_json_of_hostile_tokens(word):
    text = ks.tensorboard.to_json(
        picture(*spaced(word, "b"), [hypothesis(*spaced(word), np.eye(2, 3))])
    )
    assert not set("<>&\u2028\u2029") & set(text)  # can stand in a script
    found = json.loads(text)["source"]
    assert found["tokens"][0][0] == word.replace("\ud800", "?")
    assert found["text"] == f"{word} b".replace("\ud800", "?")
    text.encode()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, 1e-30])
def test_json_of_strange_weights(value):
    made = picture(*spaced("a"), [hypothesis("", [], np.zeros((0, 2)))])
    assert json.loads(ks.tensorboard.to_json(made))["hypotheses"][0]["weights"] == ""
    made = picture(*spaced("a"), [hypothesis(*spaced(), np.full((1, 2), value))])
    said = json.loads(ks.tensorboard.to_json(made))["hypotheses"][0]["weights"]
    found = np.frombuffer(base64.b64decode(said), "<f2")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.full(2, value).astype("<f2"))


def test_gold():
    [gold] = ks.metrics.read_alignments(["0-0 1?2 1-1"])
    made = picture(*spaced("a", "b"), [], "x y z", gold)
    assert made["gold"] == [[0, 0, "S"], [1, 1, "S"], [2, 1, "P"]]


SOURCE = spaced("a", "cat")  # three tokens, the end among them


def of(weights, words=("Katze",), reference=None, **about):
    weights = np.array(weights)
    return picture(*SOURCE, [hypothesis(*spaced(*words), weights, **about)], reference)


def test_by_hand_and_by_the_mean_over_heads():
    """Rows: one third each; all on the second word."""
    metrics = of([[1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0]])["metrics"]
    third, out = 1 / 3, math.log(3) / 2
    covered = [third, 1 + third, third]
    deviation = sum(math.log(1 + (1 - c) ** 2) for c in covered) / 3
    into = (0.25 * math.log(4) + 0.75 * math.log(4 / 3)) / 3  # of the second word
    assert metrics == {
        "coverage_deviation": round(deviation, 5),
        "absentmindedness_out": round(out, 5),
        "absentmindedness_in": round(into, 5),
        "entropy": round(out / math.log(3), 5),
        "overlap": 0.4,  # "at" of "Katze"
        "length_ratio": 0.5,
    }
    heads = [[[1.0, 0, 0], [0, 0, 1.0]], [[0, 0, 1.0], [0, 0, 1.0]]]
    mean = [[0.5, 0, 0.5], [0, 0, 1.0]]
    assert of(heads)["metrics"] == of(mean)["metrics"]


def test_bleu_is_of_what_the_search_found(monkeypatch):
    eye = np.eye(5, 3)
    words = ("one", "two", "three", "four")
    assert of(eye, words, "one two three four")["metrics"]["bleu"] == 100.0
    assert 0 < of(eye, words, "one two three five")["metrics"]["bleu"] < 100.0
    assert of(np.eye(2, 3), reference="zwei Katze")["metrics"]["bleu"] != 0
    assert "bleu" not in of(eye, words, "one", kind="forced")["metrics"]
    monkeypatch.setitem(__import__("sys").modules, "sacrebleu.metrics", None)
    assert of(np.eye(2, 3), reference="Katze")["metrics"]["bleu"] is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 7.0])
def test_of_no_alignment(value):
    metrics = of(np.full((2, 3), value), reference="Hund")["metrics"]
    nothing = {name for name, x in metrics.items() if x is None}
    minds = {"absentmindedness_out", "absentmindedness_in"}
    assert nothing == {"coverage_deviation", *minds, "entropy"}


def test_of_nothing():
    assert set(picture(*SOURCE, [])["metrics"].values()) == {None}
    nothing = picture(*SOURCE, [hypothesis("", [], np.zeros((0, 3)))])["metrics"]
    assert nothing["entropy"] is None and nothing["length_ratio"] == 0.0
    end = of([[0.0, 0.0, 1.0]], ())["metrics"]
    assert end["overlap"] is None and end["length_ratio"] == 0.0
    assert end["entropy"] == 0.0
    blank = picture(*spaced(), [hypothesis(*spaced("a"), np.ones((2, 1)))])["metrics"]
    assert blank["length_ratio"] is None and blank["overlap"] == 0.0


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_longest_common(a, b):
    parts = {a[i:j] for i in range(len(a) + 1) for j in range(i, len(a) + 1)}
    assert longest_common(a, b) == max(len(part) for part in parts if part in b)


@pytest.mark.timeout(20)
def test_longest_common_of_long_texts():
    assert longest_common("a" * 10_000, "b" + "a" * 10_000) == 10_000
