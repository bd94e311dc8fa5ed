"""What is broken in a log becomes a message in the answer."""

import tracemalloc
import zlib

import numpy as np
import pytest

from tensorboard_plugin_seqattn import fields, weights
from tests.raised import check_message
from tests.tensorboard_plugin import logs
from tests.tensorboard_plugin.logs import header, hypothesis, record, sentence, series

AGAIN = "Log it again with keras_seqattn, or delete its event file."
UPGRADE = "Upgrade keras_seqattn where TensorBoard runs."
DIVERGED = "The model may have diverged: lower the learning rate, or clip the gradients"
GOOD = logs.packed(np.zeros((1, 3, 3)))
TRUNCATED = zlib.compress(header(hypothesis()))[:-30]
INFINITE = header(hypothesis(score=0)).replace(b'"score": 0', b'"score": 1e999')


def changed(**changes):
    return [header(hypothesis(**changes)), GOOD]


FOREIGN = "The record is not from keras_seqattn. Expected a list of byte strings, heade"
BROKEN = "The header is broken. Expected a JSON object, received"
VERSION = "The header is not from keras_seqattn. Expected version 1 to 2, received"
HYPOTHESES = "The header has an unusable hypotheses. Expected a list of objects"
NO_FIT = "Hypothesis 0 has weights that do not fit its shape. Expected 18 bytes, compre"
NUMBER, UNUSABLE = "Hypothesis 0 has a number of", "Hypothesis 0 has an unusable"
RECORDS = {  # the beginning of a message ... parts of the rest: the values of a record
    f"{FOREIGN} ... received []": [],
    f"{FOREIGN} ... received b'text'": b"text",
    "The record is not from keras_seqattn ... byte strings, received": np.zeros(3),
    f"{FOREIGN} ... [[b'a', b'b']]": np.array([[b"a", b"b"]], object),
    f"{BROKEN} ... \"hyp'": [b'{"version": 1, "hyp', GOOD],
    rf"""{BROKEN} ... "\xff": 0}}'""": [b'{"version": 1, "\xff": 0}', GOOD],
    f"{BROKEN} ... {fields.short(TRUNCATED)}": [TRUNCATED, GOOD],
    f"{BROKEN} ... b'x no zlib'": [b"x no zlib", GOOD],
    f"{BROKEN} ... b'7'": [b"7"],
    f"{BROKEN} ... {'9' * 24}...9": [b'{"version": ' + b"9" * 9999 + b"}"],
    f"{VERSION} ... None": [b"{}"],
    f"{VERSION} ... True": [b'{"version": true}'],
    f"{HYPOTHESES} ... None": [b'{"version": 1, "metrics": {}}'],
    f"{HYPOTHESES} ... ['free']": [header("free"), GOOD],
    "The header has an unusable metrics. Expected numbers or null by name ... "
    "{'bleu': 'high'}": [header(hypothesis(), metrics={"bleu": "high"}), GOOD],
    "The record has a wrong number of weights ... weights for each of 2 hypotheses, "
    "received weights for 1": [header(hypothesis(), hypothesis()), GOOD],
    **{
        f"{UNUSABLE} {field}. Expected ... {value!r}": changed(**{field: value})
        for field, values in {
            **{"kind": ["best"], "rank": [-1], "text": [None], "ranking": [[]]},
            **{"score": ["-1", 10**25], "reach": [True], "heads": [[1]]},
            "tokens": [[["a", 0]], [[0, 0, 1]], [["a", -1, 1]]],
            "shape": [[0, 3, 3], [1.0, 3, 3]],
            "centre": [[None] * 3],
        }.items()
        for value in values
    },
    "Hypothesis 0 has an unusable score ... inf": [INFINITE, GOOD],
    "Hypothesis 0 has a token outside of its text ... 0 <= start <= end <= 2 "
    "characters, received ['b', 1, 9]": changed(
        text="ab", tokens=[["a", 0, 1], ["b", 1, 9]]
    ),
    f"{NUMBER} tokens that does not fit ... 3, received 0": changed(tokens=[]),
    f"{NUMBER} source tokens that does not fit ... 5, received 3": [
        header(hypothesis((1, 3, 5))),
        logs.packed(np.zeros((1, 3, 5))),
    ],
    f"{NUMBER} names of heads that ... 1, received 2": changed(heads=["one", "two"]),
    f"{NUMBER} names of heads that does not fit ... 1, received 0": changed(heads=[]),
    f"{NUMBER} centres that does not fit ... 3, received 1": changed(centre=[0.5]),
    **{
        f"{NO_FIT} ... by zlib, received {blob!r}": [header(hypothesis()), blob]
        for blob in (zlib.compress(bytes(16)), bytes(18), b"", GOOD[:-1], GOOD + b"!")
    },
}


def error(values, content=None, route="series"):
    site = logs.Site({"r": {"p/0": series((4, values), content=content)}})
    step = site.step(route)
    assert (step["step"], step["wall_time"], len(step)) == (4, 7.0, 3)
    return step["error"]


@pytest.mark.parametrize("said", RECORDS)
def test_record(said):
    check_message(error(RECORDS[said]), *said.split(" ... "), AGAIN)


def test_a_message_as_a_whole():
    assert error(changed(kind="best")) == (
        'Hypothesis 0 has an unusable kind. Expected "free" or "forced", received '
        f"'best'. {AGAIN}"
    )


OTHER_REMEDIES = {
    "The header is newer than this tab. Expected version 1 to 2 of the log ... 3. "
    f"{UPGRADE}": [header(hypothesis(), version=3), GOOD],
    "The search found no hypothesis at this step. Expected one hypothesis or more ... "
    f"none. {DIVERGED}": [header()],
    "Hypothesis 0 has weights that are not finite. Expected finite numbers ... 6 NaN "
    f"or infinite of 6. {DIVERGED}": record([[[np.nan, np.inf, -np.inf]] * 2]),
    "Hypothesis 0 is too large to draw. Expected at most 4194304 weights ... shape "
    f"{[2**40, 3, 3]}. Log shorter sentences, or": changed(shape=(2**40, 3, 3)),
}


@pytest.mark.parametrize("said", OTHER_REMEDIES)
def test_record_with_another_remedy(said):
    check_message(error(OTHER_REMEDIES[said]), *said.split(" ... "))


def test_every_finite_float16_is_accepted():
    every = np.arange(2**16, dtype="uint16").view("<f2").reshape(1, 256, 256)
    finite = np.where(np.isfinite(every), every, 0)
    strange = int(np.sum(~np.isfinite(every)))
    reader = weights.WeightReader()
    assert reader.read(logs.packed(finite), [1, 256, 256], "It")
    with pytest.raises(ValueError, match=f"received {strange} NaN or infinite"):
        reader.read(logs.packed(every), [1, 256, 256], "It")


def test_a_bomb_is_not_unpacked(monkeypatch):
    bomb = zlib.compress(bytes(30_000_000))
    tracemalloc.start()
    try:
        check_message(error([header(hypothesis()), bomb]), NO_FIT)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(fields, "HEADER_BYTES", 100)
    [small, large] = [zlib.compress(b"{" + b" " * n + b"}") for n in (9, 999)]
    assert fields.parse(small, "It") == {}
    with pytest.raises(fields.BrokenRecord, match="It is broken. Expected a JSON"):
        fields.parse(large, "It")


def test_a_series_has_room_for_the_newest_and_broken_steps(monkeypatch):
    monkeypatch.setattr(weights.WeightReader.__init__, "__defaults__", (2**20,))
    shape = (2**17 // 9, 3, 3)  # a quarter of that each
    many = [(step, record(np.zeros(shape))) for step in range(6)]
    site = logs.Site({"r": {"p/0": series(*many)}})
    steps = site.ask("series", run="r", tag="p/0").json["steps"]
    assert [step["step"] for step in steps] == list(range(6))
    errors = [step.get("error") for step in steps]
    assert errors[2:] == [None] * 4
    for message in errors[:2]:
        what = "Hypothesis 0 does not fit into the answer. Expected at most 1 MB of wei"
        rest = f"received shape {list(shape)}. Newer steps are shown. Keep fewer steps:"
        check_message(message, what, rest, "--samples_per_plugin=seq_attention=50")
    runs = {"r": {"p/0": series((0, record(np.zeros((1, 3, 3)))), (1, [b"?"]))}}
    first, second = logs.Site(runs).ask("series", run="r", tag="p/0").json["steps"]
    assert "hypotheses" in first and "error" in second


ABOUT = "The description of this series"
BROKEN_CONTENT = f"{ABOUT} is broken. Expected a JSON object, received"
LINKS = 'gold. Expected a list of [target word, source word, "S" or "P"], or null'
REVERSED = {"text": "ein", "tokens": [["ein", 2, 1]]}
CONTENTS = {
    f"{BROKEN_CONTENT} ... b''": b"",
    rf"{BROKEN_CONTENT} ... b'\x08\x01'": b"\x08\x01",
    f"{BROKEN_CONTENT} ... b'{'[' * 36}...{'[' * 38}'": b"[" * 100_000,
    f"{ABOUT} is not from keras_seqattn ... None": {"kind": "picture"},
    f"""{ABOUT} has an unusable kind ... "alignment" or "table" ... 'film'""": (
        sentence(kind="film")
    ),
    f'{ABOUT} has an unusable columns ... "source" or "target" ... None': sentence(
        kind="alignment", of="p/0", name="layer 1", rows="target"
    ),
    f"{ABOUT} has an unusable source ... an object ... 7": sentence(source=7),
    f"{ABOUT} has an unusable reference ... or null ... 7": sentence(reference=7),
    f"{ABOUT} has an unusable {LINKS} ... [[0, 0]]": sentence(gold=[[0, 0]]),
    f"{ABOUT} has an unusable {LINKS} ... [[0, 0, 'X']]": sentence(gold=[[0, 0, "X"]]),
    "The source has an unusable text ... a string, received": sentence(
        source={**logs.SOURCE, "text": None}
    ),
    "The source has an unusable tokens ... [piece, s": sentence(
        source={**logs.SOURCE, "tokens": {}}
    ),
    "The source has a token outside of its text. Expected 0 <= start <= end <= 3 "
    "characters, received ['ein', 2, 1]": sentence(source=REVERSED),
}


def both_ways(content):
    """The error of a series, which is also in the list of the runs."""
    one = series((4, b""), content=content)
    site = logs.Site({"r": {"p/0": one, "p/1": logs.PICTURE}})
    answer = site.ask("series", run="r", tag="p/0").json
    assert answer["source"] is answer["reference"] is answer["gold"] is None
    [step] = answer["steps"]
    assert (step["step"], step["wall_time"]) == (4, 7.0)
    [first, second] = site.ask("runs").json["runs"]["r"]["sentences"]
    assert first == {"tag": "p/0", "text": "", "last": 4, "error": step["error"]}
    assert second == {"tag": "p/1", "text": "ein Haus", "last": 0}
    assert site.step("table")["error"] == step["error"]
    return step["error"]


@pytest.mark.parametrize("said", CONTENTS)
def test_content(said):
    check_message(both_ways(CONTENTS[said]), *said.split(" ... "), AGAIN)


def test_newer_content():
    what = f"{ABOUT} is newer than this tab. Expected version 1 to 2 of the log"
    check_message(both_ways(sentence(version=3)), what, "3", UPGRADE)


ROW = "The table has an unusable row 'p/0'. Expected numbers or null by name, received"
TABLES = {
    "The table is not from keras_seqattn ... one byte string, received [b": [b"{}"],
    """The table is broken ... JSON object, received b'{"p/0\"""": b'{"p/0": {"ent',
    f"{ROW} ... 'good'": b'{"p/0": "good"}',
    f"{ROW} ... {{'bleu': True}}": b'{"p/0": {"bleu": true}}',
}


@pytest.mark.parametrize("said", TABLES)
def test_table(said):
    found = error(TABLES[said], content=logs.TABLE, route="table")
    check_message(found, *said.split(" ... "), AGAIN)
