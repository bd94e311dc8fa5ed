"""Measured results: the tables say what the files say, and the commands can be run."""

import json
import shlex

import pytest

from keras_seqattn import zoo
from keras_seqattn.zoo import measured
from seqattn_command import main as seqattn
from seqattn_command.parser import parse
from tests.cli.tiny import TASK, TINY

FILES = sorted(measured.RESULTS.glob("*/*.json"))
IDS = [f"{path.parent.name}-{path.stem}" for path in FILES]


def test_readme_is_made_of_the_files():
    """Else: python -m zoo.measured show"""
    text = measured.README.read_text(encoding="utf-8")
    assert measured.written(text) == text


@pytest.mark.parametrize("name", measured.tables())
def test_there_is_a_picture(name):
    assert (measured.PICTURES / f"{name}_curves.png").stat().st_size > 10_000


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_commands(path):
    """Of a model that is in the zoo, with options that exist."""
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["model"] in zoo.__all__
    for words in map(shlex.split, (result["command"], result["evaluated"])):
        assert words[0] == "seqattn"
        parse(words[1:])  # exits where an option is unknown
    assert f"--seed {result['seed']}" in result["command"] or result["seed"] == 0
    assert "/" not in result["command"].replace("runs/", "")  # no path of a machine


@pytest.mark.slow
def test_add(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(measured, "PICTURES", tmp_path)
    monkeypatch.setattr(measured, "README", tmp_path / "README.md")
    run = tmp_path / "secret" / "run"
    for seed in "01":
        out = ["--out", f"{run}{seed}", "--epochs", "2", "--seed", seed]
        assert seqattn(["train", *TASK, *TINY, *out]) == 0
        name = f"toys/reverse-{seed}"
        measured.main(["add", f"{run}{seed}", name, "tiny", "--beam", "1"])
    measured.README.write_text("a\n<!-- measured: toys -->\n<!-- end: toys -->\nb\n")
    measured.main(["show"])
    text = measured.README.read_text()
    assert text.startswith("a\n<!-- measured: toys -->\n|  | model | what |")
    assert text.endswith("\n<!-- end: toys -->\nb\n")
    assert "| `bahdanau2015` | tiny |" in text
    assert "seqattn evaluate runs/reverse-1 --beam 1" in text
    assert "secret" not in text
    assert measured.written(text) == text
    assert (tmp_path / "toys_curves.png").stat().st_size > 10_000
    measured.README.write_text("no place\n")
    with pytest.raises(ValueError, match="does not have one place for the table"):
        measured.main(["show"])


@pytest.mark.parametrize(
    ("metric", "order"), [("exact_match", [99, 90]), ("wer", [90, 99])]
)
def test_the_best_one_comes_first(tmp_path, monkeypatch, metric, order):
    monkeypatch.setattr(measured, "RESULTS", tmp_path)
    (tmp_path / "toys").mkdir()
    for value in order:
        result = {"metric": metric, "values": {"validation": {metric: value}}}
        (tmp_path / "toys" / f"{value}.json").write_text(json.dumps(result))
    found = [r["values"]["validation"][metric] for r in measured.read("toys")]
    assert found == order


@pytest.mark.parametrize(
    ("metric", "value", "when"),
    [
        ("bleu", 20, "epoch 4, 2.5 minutes, 21.0"),
        ("bleu", 30, "not reached"),
        ("wer", 20, "epoch 2, 1.5 minutes, 11.0"),  # the smaller the better
    ],
)
def test_when_a_value_was_reached(tmp_path, monkeypatch, metric, value, when):
    monkeypatch.setattr(measured, "RESULTS", tmp_path)
    result = {"model": "m", "what": "w", "seed": 1, "machine": "two cores"}
    result |= {"metric": metric, "values": {"validation": {metric: 21.0}}}
    result["curve"] = [[2, 1.5, 11.0], [4, 2.5, 21.0], [6, 3.5, 19.0]]
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "m.json").write_text(json.dumps(result))
    [line] = measured.reached("t", value)
    assert line == f"1: {when} (m, w, seed 1; two cores)"
