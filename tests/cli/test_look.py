"""`seqattn inspect`, with `--html` too, and `seqattn tasks`."""

import json
import re
import shutil

import pytest


@pytest.fixture
def alone(trained, tmp_path):
    return shutil.copytree(trained / "translator", tmp_path / "translator")


def test_inspects_a_run(trained, succeeds):
    text = succeeds("inspect", trained).out
    for words in (
        *("seqattn train --task reverse", "  learning_rate      0.01\n"),
        *("train       60 pairs, sha256 ", "keras 3.", "epoch  step  seconds"),
        *("best: exact_match ", "search      BeamSearch(", "BiEncoder(8, gru_paper)"),
        *("source      Characters(), 9 tokens: ", " parameters\n"),
    ):
        assert words in text


def test_inspects_what_was_left_out_and_a_run_that_has_just_begun(copied, succeeds):
    report = {"total": 9, "dropped": {"no tab": 1}}
    report["examples"] = {"no tab": ["line 3: x"]}
    run = json.loads((copied / "run.json").read_text())
    run["left_out"] = {"train": report}
    (copied / "run.json").write_text(json.dumps(run))
    table = "train       8 of 9 pairs kept\n      1 no tab  line 3: x\n"
    assert table in succeeds("inspect", copied).out
    shutil.rmtree(copied / "translator")
    shutil.rmtree(copied / "checkpoints")
    (copied / "history.jsonl").unlink()
    text = succeeds("inspect", copied).out
    assert "best: no validation yet\n" in text
    assert "translator: none yet, the first validation writes it\n" in text


def test_prints_a_vocabulary(trained, succeeds):
    pieces = succeeds("inspect", trained, "--vocabulary target").out.splitlines()
    assert pieces[:4] == ["<pad>", "<s>", "</s>", "<unk>"]
    assert sorted(pieces[4:]) == list("abcde")


def pictures_in(file):
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    return json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL)[1])


def test_sentences_of_the_validation_set(trained, tmp_path, succeeds):
    file = tmp_path / "page.html"
    printed = succeeds("inspect", trained, "--html", file, "--count 3")
    assert printed.out == ""
    assert printed.err.endswith(f"{file} shows 3 sentences; open it with a browser.\n")
    pictures = pictures_in(file)
    assert len(pictures) == 3
    kinds = [hypothesis["kind"] for hypothesis in pictures[0]["hypotheses"]]
    assert kinds == ["free", "free", "forced"]  # all of a beam of 2, and the reference
    assert pictures[0]["reference"] == pictures[0]["source"]["text"][::-1]
    assert "bleu" in pictures[0]["metrics"]


def test_sentences_that_are_given(alone, tmp_path, succeeds):
    file = tmp_path / "page.html"
    succeeds("inspect", alone, "--html", file, "--text abc --text e --beam 1")
    pictures = pictures_in(file)
    assert [picture["source"]["text"] for picture in pictures] == ["abc", "e"]
    assert [len(picture["hypotheses"]) for picture in pictures] == [1, 1]
    assert pictures[0]["reference"] is None
    assert succeeds("inspect", alone).out.startswith(f"translator: {alone}\n")


def test_lists_and_shows_tasks(succeeds):
    text = succeeds("tasks").out
    for name in ("dates", "g2p", "numbers", "reverse", "sort"):
        assert f"\n{name:8}  " in f"\n{text}"
    assert text.count("  ->  ") == 10
    text = succeeds("tasks", "sort", "--task-option", "symbols=0123456789").out
    assert "\nArgs:\n    symbols: " in text
    assert "\n    lengths=(1, 12)\n" in text
    assert "Pairs: 20000 for train, 500 for validation, 500 for test" in text
    assert text.count("  ->  ") == 10
