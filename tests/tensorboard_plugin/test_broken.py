"""What is broken in a log becomes a sentence in the answer, word for word."""

import json
import zlib

import numpy as np
import pytest

from tensorboard_plugin_seqattn import fields, weights
from tensorboard_plugin_seqattn.fields import short
from tests.tensorboard_plugin.fakes import PICTURE, Site, series
from tests.tensorboard_plugin.logs import (
    SOURCE,
    TABLE,
    header,
    hypothesis,
    packed,
    record,
    sentence,
)

AGAIN = "Log it again with keras_seqattn, or delete its event file."
GOOD = packed(np.zeros((1, 3, 3)))
SPANS = [["a", 0, 1], ["b", 1, 9], ["", 1, 1]]


def one(**changes):
    """A record of one hypothesis that is not as it should be."""
    return [header(hypothesis(**changes)), GOOD]


def weighing(blob, shape=(1, 3, 3)):
    return [header(hypothesis(shape)), blob]


def unusable(name, expected, received, what="Hypothesis 0"):
    return f"{what} has an unusable {name}. Expected {expected}, received {received}."


TOKENS = "a list of [piece, start, end]"
SHAPE = "[heads, target, source], each 1 or more"
NUMBER = "a number, or null"
NUMBERS = "numbers or null by name"
RECORDS = {
    # The whole of it.
    "no header": (
        [],
        "The record is not from keras_seqattn. Expected a list of byte "
        "strings, header first, received [].",
    ),
    "scalar": (
        b"text",
        "The record is not from keras_seqattn. Expected a list of byte "
        "strings, header first, received b'text'.",
    ),
    "floats": (
        np.zeros(3),
        "The record is not from keras_seqattn. Expected byte strings, received "
        "float64.",
    ),
    "matrix": (
        np.array([[b"a", b"b"]], dtype=object),
        "The record is not from keras_seqattn. Expected a list of byte "
        "strings, header first, received [[b'a', b'b']].",
    ),
    # The header.
    "cut header": (
        [b'{"version": 1, "hyp', GOOD],
        "The header is broken. Expected a JSON object, received "
        'b\'{"version": 1, "hyp\'.',
    ),
    "not UTF-8": (
        [b'{"version": 1, "\xff": 0}', GOOD],
        "The header is broken. Expected a JSON object, received "
        'b\'{"version": 1, "\\xff": 0}\'.',
    ),
    "cut header in zlib": (
        [zlib.compress(header(hypothesis()))[:-30], GOOD],
        "The header is broken. Expected a JSON object, received "
        f"{short(zlib.compress(header(hypothesis()))[:-30])}.",
    ),
    "damaged header in zlib": (
        [b"x no zlib", GOOD],
        "The header is broken. Expected a JSON object, received b'x no zlib'.",
    ),
    "number": ([b"7"], "The header is broken. Expected a JSON object, received b'7'."),
    "huge number": (
        [b'{"version": ' + b"9" * 9999 + b"}"],
        "The header is broken. Expected a JSON object, received "
        f"b'{{\"version\": {'9' * 24}...{'9' * 37}}}'.",
    ),
    "no version": (
        [b"{}"],
        "The header is not from keras_seqattn. Expected version 1, received None.",
    ),
    "version true": (
        [b'{"version": true}'],
        "The header is not from keras_seqattn. Expected version 1, received True.",
    ),
    "no hypotheses": (
        [b'{"version": 1, "metrics": {}}'],
        unusable("hypotheses", "a list of objects", "None", "The header"),
    ),
    "hypotheses of text": (
        [header("free"), GOOD],
        unusable("hypotheses", "a list of objects", "['free']", "The header"),
    ),
    "metrics of text": (
        [header(hypothesis(), metrics={"bleu": "high"}), GOOD],
        unusable("metrics", NUMBERS, "{'bleu': 'high'}", "The header"),
    ),
    "blobs": (
        [header(hypothesis(), hypothesis()), GOOD],
        "The record has a wrong number of weights. Expected weights for each "
        "of 2 hypotheses, received weights for 1.",
    ),
    # Fields of a hypothesis.
    "kind": (one(kind="best"), unusable("kind", '"free" or "forced"', "'best'")),
    "rank": (one(rank=-1), unusable("rank", "a whole number, 0 or more", "-1")),
    "text": (one(text=None), unusable("text", "a string", "None")),
    "score": (one(score="-1"), unusable("score", NUMBER, "'-1'")),
    "huge score": (one(score=10**25), unusable("score", NUMBER, str(10**25))),
    "infinite score": (
        [header(hypothesis(score=0)).replace(b'"score": 0', b'"score": 1e999'), GOOD],
        unusable("score", NUMBER, "inf"),
    ),
    "ranking": (one(ranking=[]), unusable("ranking", NUMBER, "[]")),
    "reach": (one(reach=True), unusable("reach", NUMBER, "True")),
    "tokens": (one(tokens=[["a", 0]]), unusable("tokens", TOKENS, "[['a', 0]]")),
    "piece": (one(tokens=[[0, 0, 1]]), unusable("tokens", TOKENS, "[[0, 0, 1]]")),
    "start": (
        one(tokens=[["a", -1, 1]]),
        unusable("tokens", TOKENS, "[['a', -1, 1]]"),
    ),
    "spans": (
        one(text="ab", tokens=SPANS),
        "Hypothesis 0 has a token outside of its text. Expected 0 <= start <= end <= 2 "
        "characters, received ['b', 1, 9].",
    ),
    "shape": (one(shape=[0, 3, 3], tokens=[]), unusable("shape", SHAPE, "[0, 3, 3]")),
    "shape of floats": (
        one(shape=[1.0, 3, 3]),
        unusable("shape", SHAPE, "[1.0, 3, 3]"),
    ),
    "number of tokens": (
        one(tokens=[]),
        "Hypothesis 0 has a number of tokens that does not fit its shape. "
        "Expected 3, received 0.",
    ),
    "number of source tokens": (
        weighing(packed(np.zeros((1, 3, 5))), (1, 3, 5)),
        "Hypothesis 0 has a number of source tokens that does not fit its "
        "shape. Expected 5, received 3.",
    ),
    "number of heads": (
        one(heads=["one", "two"]),
        "Hypothesis 0 has a number of names of heads that does not fit its "
        "shape. Expected 1, received 2.",
    ),
    "no names of heads": (
        one(heads=[]),
        "Hypothesis 0 has a number of names of heads that does not fit its "
        "shape. Expected 1, received 0.",
    ),
    "number of centres": (
        one(centre=[0.5]),
        "Hypothesis 0 has a number of centres that does not fit its shape. "
        "Expected 3, received 1.",
    ),
    "heads": (
        one(heads=[1]),
        unusable("heads", "a list of names, or null", "[1]"),
    ),
    "centre": (
        one(centre=[None] * 3),
        unusable("centre", "a list of numbers, or null", "[None, None, None]"),
    ),
    # The weights.
    "too few": (
        weighing(zlib.compress(b"\0" * 16)),
        "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, "
        f"compressed by zlib, received {zlib.compress(bytes(16))!r}.",
    ),
    "not compressed": (
        weighing(b"\0" * 18),
        "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, "
        f"compressed by zlib, received {bytes(18)!r}.",
    ),
    "nothing": (
        weighing(b""),
        "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, "
        "compressed by zlib, received b''.",
    ),
    "checksum cut off": (
        weighing(GOOD[:-1]),
        "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, "
        f"compressed by zlib, received {GOOD[:-1]!r}.",
    ),
    "something behind": (
        weighing(GOOD + b"!"),
        "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, "
        f"compressed by zlib, received {GOOD + b'!'!r}.",
    ),
}
DIVERGED = (
    "The model may have diverged: lower the learning rate, or clip the gradients."
)
UPGRADE = "Upgrade keras_seqattn where TensorBoard runs."


def error(*values, content=None, route="series"):
    site = Site({"r": {"p/0": series((4, *values), content=content)}})
    step = site.step(route)
    assert (step["step"], step["wall_time"], len(step)) == (4, 7.0, 3)
    return step["error"]


@pytest.mark.parametrize("name", RECORDS)
def test_record(name):
    values, expected = RECORDS[name]
    assert error(values) == f"{expected} {AGAIN}"


def test_newer_header():
    assert error([header(hypothesis(), version=2), GOOD]) == (
        "The header is newer than this tab. Expected version 1 of the log, received 2. "
        + UPGRADE
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers(value):
    array = np.full((1, 3, 3), 0.5)
    array[0, 1, :2] = value
    assert error(record(array)) == (
        "Hypothesis 0 has weights that are not finite. Expected finite "
        f"numbers, received 2 NaN or infinite of 9. {DIVERGED}"
    )


def test_every_finite_float16_is_accepted():
    every = np.arange(2**16, dtype="uint16").view("<f2").reshape(1, 256, 256)
    finite = np.where(np.isfinite(every), every, 0)
    strange = int(np.sum(~np.isfinite(every)))
    reader = weights.WeightReader()
    assert reader.read(packed(finite), [1, 256, 256], "It")
    with pytest.raises(ValueError, match=f"received {strange} NaN or infinite"):
        reader.read(packed(every), [1, 256, 256], "It")


def test_nothing_found():
    assert error([header()]) == (
        "The search found no hypothesis at this step. Expected one hypothesis "
        f"or more, received none. {DIVERGED}"
    )


def test_a_shape_beyond_reason():
    shape = (2**40, 3, 3)
    assert error(weighing(GOOD, shape)) == (
        "Hypothesis 0 is too large to draw. Expected at most 4194304 weights, received "
        f"shape {list(shape)}. Log shorter sentences, or fewer heads."
    )


def test_a_bomb_is_not_unpacked():
    # A thousandth of what it would be; the shape allows 18 bytes.
    bomb = zlib.compress(b"\0" * 10_000_000)
    with pytest.MonkeyPatch.context() as patch:
        sizes = []
        real = zlib.decompressobj

        class Watched:
            def __init__(self):
                self.stream = real()

            def decompress(self, data, most):
                sizes.append(most)
                return self.stream.decompress(data, most)

            def __getattr__(self, name):
                return getattr(self.stream, name)

        patch.setattr(zlib, "decompressobj", Watched)
        assert "weights that do not fit its shape" in error(weighing(bomb))
    assert sizes == [19]


def test_a_bomb_in_place_of_a_header(monkeypatch):
    monkeypatch.setattr(fields, "HEADER_BYTES", 100)
    [small, large] = [zlib.compress(b"{" + b" " * n + b"}") for n in (9, 999)]
    assert fields.parse(small, "It") == {}
    with pytest.raises(fields.BrokenRecord, match="It is broken. Expected a JSON"):
        fields.parse(large, "It")


def test_a_series_has_room_for_the_newest(monkeypatch):
    monkeypatch.setattr(weights.WeightReader.__init__, "__defaults__", (2**20,))
    shape = (2**17 // 9, 3, 3)  # a quarter of that each
    many = [(step, record(np.zeros(shape))) for step in range(6)]
    steps = Site({"r": {"p/0": series(*many)}}).ask("series", run="r", tag="p/0").json
    assert [step["step"] for step in steps["steps"]] == list(range(6))
    errors = [step.get("error") for step in steps["steps"]]
    assert errors[2:] == [None] * 4
    assert errors[:2] == 2 * [
        "Hypothesis 0 does not fit into the answer. Expected at most 1 MB of "
        f"weights in one series, received shape {list(shape)}. Newer steps are "
        "shown. Keep fewer steps: tensorboard "
        "--samples_per_plugin=seq_attention=50."
    ]


def test_a_broken_step_leaves_the_others_alone():
    runs = {"r": {"p/0": series((0, record(np.zeros((1, 3, 3)))), (1, [b"?"]))}}
    first, second = Site(runs).ask("series", run="r", tag="p/0").json["steps"]
    assert "hypotheses" in first and "error" in second


# What stands once for a series --------------------------------------------------------

ABOUT = "The description of this series"
LINKS = 'a list of [target word, source word, "S" or "P"], or null'
CONTENTS = {
    "nothing": (b"", f"{ABOUT} is broken. Expected a JSON object, received b''."),
    "foreign": (
        b"\x08\x01",
        f"{ABOUT} is broken. Expected a JSON object, received b'\\x08\\x01'.",
    ),
    "nested": (
        b"[" * 100_000,
        f"{ABOUT} is broken. Expected a JSON object, received "
        f"b'{'[' * 36}...{'[' * 38}'.",
    ),
    "no version": (
        {"kind": "picture"},
        f"{ABOUT} is not from keras_seqattn. Expected version 1, received None.",
    ),
    "kind": (
        sentence(kind="film"),
        unusable("kind", '"picture" or "table"', "'film'", ABOUT),
    ),
    "source": (sentence(source=7), unusable("source", "an object", "7", ABOUT)),
    "reference": (
        sentence(reference=7),
        unusable("reference", "a string, or null", "7", ABOUT),
    ),
    "gold": (sentence(gold=[[0, 0]]), unusable("gold", LINKS, "[[0, 0]]", ABOUT)),
    "gold sure": (
        sentence(gold=[[0, 0, "X"]]),
        unusable("gold", LINKS, "[[0, 0, 'X']]", ABOUT),
    ),
    "source text": (
        sentence(source={**SOURCE, "text": None}),
        unusable("text", "a string", "None", "The source"),
    ),
    "source tokens": (
        sentence(source={**SOURCE, "tokens": {}}),
        unusable("tokens", TOKENS, "{}", "The source"),
    ),
    "source spans": (
        sentence(source={"text": "ein", "tokens": [["ein", 2, 1]]}),
        "The source has a token outside of its text. Expected 0 <= start <= end <= 3 "
        "characters, received ['ein', 2, 1].",
    ),
}


def both_ways(content):
    """The error of a series, which is also in the list of the runs."""
    site = Site({"r": {"p/0": series((4, b""), content=content), "p/1": PICTURE}})
    answer = site.ask("series", run="r", tag="p/0").json
    assert answer["source"] is answer["reference"] is answer["gold"] is None
    [step] = answer["steps"]
    assert (step["step"], step["wall_time"]) == (4, 7.0)
    [first, second] = site.ask("runs").json["runs"]["r"]["sentences"]
    assert first == {"tag": "p/0", "text": "", "last": 4, "error": step["error"]}
    assert second == {"tag": "p/1", "text": "ein Haus", "last": 0}
    assert site.step("table")["error"] == step["error"]
    return step["error"]


@pytest.mark.parametrize("name", CONTENTS)
def test_content(name):
    content, expected = CONTENTS[name]
    assert both_ways(content) == f"{expected} {AGAIN}"


def test_newer_content():
    assert both_ways(sentence(version=3)) == (
        f"{ABOUT} is newer than this tab. Expected version 1 of the log, received 3. "
        + UPGRADE
    )


# Tables -------------------------------------------------------------------------------

TABLES = {
    "a list": (
        [b"{}"],
        "The table is not from keras_seqattn. Expected one byte string, "
        "received [b'{}'].",
    ),
    "cut": (
        b'{"p/0": {"ent',
        'The table is broken. Expected a JSON object, received b\'{"p/0": {"ent\'.',
    ),
    "a row of text": (
        json.dumps({"p/0": "good"}).encode(),
        "The table has an unusable row 'p/0'. Expected numbers or null by name, "
        "received 'good'.",
    ),
    "true": (
        json.dumps({"p/0": {"bleu": True}}).encode(),
        "The table has an unusable row 'p/0'. Expected numbers or null by name, "
        "received {'bleu': True}.",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_table(name):
    values, expected = TABLES[name]
    assert error(values, content=TABLE, route="table") == f"{expected} {AGAIN}"
