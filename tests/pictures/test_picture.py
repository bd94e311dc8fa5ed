"""Pictures, and their JSON for a page."""

import base64
import json

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from tests.tensorboard.logs import random_picture, spaced

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><!--",
    "\"'&amp;\\",
    "\u202eright to left\u2066",
    "🦊\u200d🔥",
    "\u2028\u2029\x00\x1b[31m",
    "x" * 10_000,
    "\ud800",  # half a character
    "",
]


def translation(source, text, target_tokens, source_tokens, **about):
    shape = len(target_tokens), len(source_tokens)
    weights = np.random.default_rng(shape[0]).dirichlet(np.ones(shape[1]), shape[0])
    about = {"score": -1.25, "ranking": -0.5, **about}
    return ks.translator.Translation(
        source,
        text,
        **about,
        **{
            "source_tokens": source_tokens,
            "target_tokens": target_tokens,
            "alignment": weights,
        },
    )


def test_of_a_translation():
    read = [
        ks.translator.Token("é", 0, 2),
        ks.translator.Token("cole", 2, 6),
        ks.translator.Token("</s>", 6, 6),
    ]
    other = translation("École", "schools", ["▁school", "s"], read, ranking=-np.inf)
    best = translation(
        "École", "school", ["▁school", "</s>"], read, alternatives=(other,)
    )
    made = ks.tensorboard.picture_of(best, reference="a school")
    assert made["version"] == 1 and made["gold"] is None
    assert made["reference"] == "a school" and "bleu" in made["metrics"]
    tokens = [["é", 0, 1], ["cole", 1, 5], ["</s>", 5, 5]]
    assert made["source"] == {"text": "École", "tokens": tokens}
    first, second = made["hypotheses"]
    np.testing.assert_allclose(first.pop("weights"), best.alignment[None], rtol=1e-6)
    np.testing.assert_allclose(second.pop("weights"), other.alignment[None], rtol=1e-6)
    nothing = {"heads": None, "centre": None, "reach": None, "score": -1.25}
    assert first == {
        **{"kind": "free", "rank": 0, "text": "school", "ranking": -0.5, **nothing},
        **{"tokens": [["▁school", 0, 6], ["</s>", 6, 6]], "shape": [1, 2, 3]},
    }
    assert second == {
        **{"kind": "free", "rank": 1, "text": "schools", "ranking": None, **nothing},
        **{"tokens": [["▁school", 0, 6], ["s", 6, 7]], "shape": [1, 2, 3]},
    }


def test_of_a_blank_text():
    """Its translation is blank, whatever the model said."""
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
