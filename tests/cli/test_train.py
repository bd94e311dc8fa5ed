"""`seqattn train`: what it leaves behind, resuming, repeating, being stopped."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import training
from keras_seqattn.cli.run_callbacks import TimeLimit
from keras_seqattn.cli.run_folder import RunFolder
from keras_seqattn.cli.text_processors import learn_texts, warn_of_references
from keras_seqattn.cli.training import make_translator
from keras_seqattn.cli.training_data import make_dataset, read_task, warn_of_lengths
from seqattn_command import main
from seqattn_command.settings import Settings
from tests.cli.runs import assert_same_run, change_settings, resume
from tests.cli.tiny import TASK, TINY
from tests.trials.fingerprints import history


def test_folder_run_json_and_history(trained):
    assert {path.name for path in trained.iterdir()} == {
        *("checkpoints", "history.jsonl", "logs", "run.json", "text", "translator")
    }
    assert {path.name for path in (trained / "checkpoints").iterdir()} == {
        *("best.weights.h5", "best.weights.h5.sha256", "validation.json"),
        *(f"state-{n}.weights.h5{end}" for n in (1, 2) for end in ("", ".sha256")),
    }
    run = json.loads((trained / "run.json").read_text())
    assert run["command"].startswith("seqattn train --task reverse --task-option train")
    settings = run["settings"]
    assert settings["source_text"] == "characters"  # chosen by training
    assert settings["metric"] == ["exact_match"]
    assert settings["set"]["units"] == "8"
    assert run["data"]["train"]["pairs"] == 60 and run["left_out"] == {}
    assert set(run["versions"]) == {
        *("python", "keras_seqattn", "keras", "tensorflow", "tensorflow-text")
    }
    assert re.fullmatch(r".+, \d+ cores?", run["machine"])
    lines = (trained / "history.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["step"] for entry in entries] == [3, 6]
    assert "val_exact_match" in entries[0]
    assert 0 < entries[0]["seconds"] <= entries[1]["seconds"]
    assert 100 < entries[0]["memory"] <= entries[1]["memory"] < 100_000


def test_translator_is_the_best_one(trained):
    translator = ks.Translator.load(trained / "translator")
    assert translator.search == ks.BeamSearch(2, length_penalty=1.0)
    found = translator.model.get_weights()
    translator.model.load_weights(trained / "checkpoints" / "best.weights.h5")
    for a, b in zip(found, translator.model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sampled_subwords(tmp_path, recwarn):
    """Every epoch has as many steps as without sampling, and data do not run out."""
    texts = ["--text", "sentencepiece:14:bpe", "--sample", "0.3", "--joint"]
    options = [*TASK, *TINY, *texts, "--epochs", "2", "--seed", "1"]
    assert main(["train", *options, "--out", str(tmp_path / "run")]) == 0
    assert [entry["step"] for entry in history(tmp_path / "run")] == [3, 6]
    assert ks.Translator.load(tmp_path / "run/translator").source_text.alpha == 0.3
    assert not [w for w in recwarn if "ran out of data" in str(w.message)]


def test_half_precision():
    """The model computes in it and keeps float32 weights; other models do neither."""
    text = ks.text.Characters.learn(["abc"])
    settings = Settings(model="wang_simple", preset="small", precision="bfloat16")
    model = make_translator(settings, text, text).model
    assert keras.config.dtype_policy().name == "float32"
    assert model.decoder.compute_dtype == model.encoder.compute_dtype == "bfloat16"
    ids = np.ones((1, 2), "int32")
    model({"source": ids, "target": ids})
    assert {weight.dtype for weight in model.trainable_variables} == {"float32"}


# Dropout, averages and a schedule: everything that has a state.
LONGER = ["train", *TASK, *"--preset small --model luong2015 --set units=8".split()]
LONGER += "--set embedding=8 dropout=0.2 layers=1 --batch-size 20 --ema 0.9".split()
LONGER += "--schedule cosine --warmup 2 --average 2 --epochs 3".split()


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "longer"
    assert main([*LONGER, "--out", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_a_run_of_no_epoch_is_resumed(longer, tmp_path):
    parts = tmp_path / "parts"
    assert main([*LONGER, "--out", str(parts), "--minutes", "1e-9"]) == 0
    assert not (parts / "history.jsonl").exists()
    assert ks.Translator.load(parts / "translator").translate(["abc"]).texts
    assert resume(parts, "--minutes", "60") == 0
    change_settings(parts, minutes=None)
    assert_same_run(parts, longer)


@pytest.mark.slow
def test_repeating_gives_the_same_run(longer, tmp_path):
    again = tmp_path / "again"
    assert main(["train", "--repeat", f"{longer}/run.json", "--out", str(again)]) == 0
    assert_same_run(again, longer)


@pytest.mark.slow
def test_a_run_interrupted_in_an_epoch_is_resumed(longer, tmp_path, monkeypatch):
    def interrupt_in_epoch_3(limit, batch, logs=None):
        if int(limit.model.optimizer.iterations) == 8:
            raise KeyboardInterrupt

    parts = tmp_path / "parts"
    with monkeypatch.context() as patched:
        patched.setattr(TimeLimit, "on_train_batch_end", interrupt_in_epoch_3)
        assert main([*LONGER, "--out", str(parts)]) == 130
    assert [entry["epoch"] for entry in history(parts)] == [1, 2]
    assert resume(parts) == 0
    assert_same_run(parts, longer)


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("line", "which"),
    [("Epoch 1/", "the last weights"), ("Epoch 3/", "the best translator")],
)
def test_a_signal_leaves_a_translator(tmp_path, number, line, which):
    folder = tmp_path / "run"
    options = ["train", *TASK, *TINY, "--epochs", "10000", "--out", str(folder)]
    command = [sys.executable, "-m", "seqattn_command", *options]
    how = {"cwd": Path(__file__).parents[2], "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, stdout=subprocess.PIPE, **how) as process:
        for printed in process.stdout:
            if line in printed:
                process.send_signal(getattr(signal, number))
                break
        rest = process.stdout.read()
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert f"stopped: {folder}/translator holds {which}" in rest
    assert ks.Translator.load(folder / "translator").translate(["abc"]).texts
    done = len(history(folder)) if (folder / "history.jsonl").exists() else 0
    assert resume(folder, "--epochs", str(done + 1)) == 0
    assert len(history(folder)) == done + 1


def test_a_complete_run_says_how_to_train_on(copied, monkeypatch, capsys):
    monkeypatch.setattr(training, "train", lambda *how: None)
    command = f"seqattn train --resume {copied}"
    assert resume(copied, "--epochs", "1") == 0
    printed = capsys.readouterr().err
    assert printed.startswith(
        f"The run already has 2 epochs. To train on: {command} --epochs 4\n"
    )
    assert printed.endswith(f"continue:   {command} --epochs 4\n")
    assert resume(copied, "--epochs", "3") == 0
    printed = capsys.readouterr().err
    assert "already" not in printed and printed.endswith(f"continue:   {command}\n")


SOURCES = [f"{i} {i + 1}" for i in range(40)]
TARGETS = [f"{i + 1} {i}" for i in range(40)]


def options(paths, out, *more):
    sides = ["--source", str(paths[0]), "--target", str(paths[1])]
    return ["train", *sides, *TINY, "--validation-size", "4", *more, "--out", str(out)]


def test_good_pairs_are_read(files, tmp_path, capsys, monkeypatch):
    broken = [*SOURCES, "", "9 " * 501, "9" * 501]
    sources = "\n".join(broken).encode() + b"\n\xff\n"
    paths = files(source=sources, target=[*TARGETS, *"1234"])
    learned_from = []

    def train(settings, task, run, trained):
        translator = ks.Translator.__new__(ks.Translator)
        text = ks.text.Characters.learn(task.train.source)
        texts = {"source_text": text, "target_text": text}
        translator.pipeline = SimpleNamespace(**texts, max_length=9)
        dataset, steps, report = make_dataset(settings, task.train, translator)
        assert report.dropped == {"longer than 500 tokens": 1}
        learned_from.extend(inputs["source"].shape[0] for inputs, _ in dataset)
        assert steps == len(learned_from)
        run.begin(settings, text, text)

    monkeypatch.setattr(training, "train", train)
    more = ["--row-errors", "skip-all", "--text", "characters"]
    assert main(options(paths, tmp_path / "run", *more)) == 0
    printed = capsys.readouterr().err
    assert printed.startswith(
        "data: 41 of 44 pairs kept\n"
        "      1 empty source           line 41: | 1\n"
        "      1 not UTF-8              line 44: \ufffd | 4\n"
        "      1 longer than 500 words  9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9...\n"
        "37 pairs for training, 4 for validation\n"
    )
    after = "after encoding: 36 of 37 pairs kept\n      1 longer than 500 tokens\n"
    assert after in printed
    assert sum(learned_from) == 36
    [(split, report)] = RunFolder(tmp_path / "run").content()["left_out"].items()
    assert (split, report["total"], sum(report["dropped"].values())) == ("train", 44, 3)


@pytest.mark.parametrize(
    ("count", "size"), [(40, 20), (200, 20), (500, 50), (9_999, 999), (20_000, 1_000)]
)
def test_a_tenth_is_held_out(files, count, size):
    [path] = files(**{"pairs.tsv": [f"{i}\t{i}" for i in range(count)]})
    task, reports = read_task(Settings(pairs=str(path)))
    assert (len(task.train), len(task.validation)) == (count - size, size)
    assert reports == {"train": ks.data.Report(count)}


TOO_FEW = {
    "train got too few pairs to split off a validation set. Expected 40 pairs or more, "
    "received 39 pairs. Add pairs, or name other pairs with --validation-pairs, or "
    "choose a smaller number for a first try, e.g. --validation-size 7.": "a\tb\n" * 39,
    "seqattn got files without pairs. Expected one pair or more, received 2 rows "
    "(header: 1, empty row: 1) in ": "source\ttarget\n\n",
    "seqattn got files without pairs ... received no row in ": "",
    "train got too few different sources to split off a validation set ... received 50 "
    "pairs with 1 different sources. Add pairs with other sources, or name other pairs "
    "with --validation-pairs": "a\tb\n" * 50,
    "train got no pairs to learn from ... received none of 50 rows (longer "
    "than 500 words: 30)": "".join(f"{i}{' a' * 501}\tb\n" for i in range(50)),
}


@pytest.mark.parametrize(("message", "text"), TOO_FEW.items())
def test_too_few_pairs(fails, files, tmp_path, message, text):
    [path] = files(**{"pairs.tsv": text})
    fails(f"train --pairs {path} --out {tmp_path}/run", *message.split(" ... "))
    what = "train cannot split off a validation set. Expected a size from 1 "
    if text.count("b") == 39:
        fails(f"train --pairs {path} --out {tmp_path}/run --validation-size 39", what)


def test_the_training_files_are_no_validation_set(files, tmp_path):
    [path] = files(**{"pairs.tsv": ["a\tb"]})
    how = "train got the training pairs as its validation set"
    with pytest.warns(UserWarning, match=how):
        read_task(Settings(pairs=str(path), validation_pairs=f"{tmp_path}/./pairs.tsv"))


def test_a_kind_of_text_that_does_not_fit(fails, files, tmp_path):
    paths = files(source=SOURCES, target=TARGETS)
    what = "train got a kind of text that does not suit its side"
    received = "received --source-text sentencepiece:999 with", "Expected at most"
    remedy = ". Write --source-text sentencepiece:SIZE with another size."
    more = ["--text", "sentencepiece:999"]
    fails(options(paths, tmp_path / "run", *more), what, *received, remedy)
    pairs = ks.data.Pairs(SOURCES, TARGETS)
    with pytest.warns(UserWarning, match=f"{what}.*--text characters:5 with"):
        learn_texts(Settings(source_text="characters:5", joint=True), pairs)


def test_vocabulary_that_does_not_fit(fails, files, tmp_path):
    paths = files(source=SOURCES, target=TARGETS)
    more = ["--text", "characters", "--set", "source_vocabulary=5"]
    what = "Translator got a source_text that does not fit the model"
    received = "a vocabulary of 5 tokens", "received Characters with 15"
    fails(options(paths, tmp_path / "run", *more), what, *received)
    assert not (tmp_path / "run").exists()  # the next try may have this folder


LOWERCASE, NFKC = "--lowercase", "--normalization nfkc"
CHANGES = [
    (LOWERCASE, "A{} b", LOWERCASE),
    (LOWERCASE, "a{} b", None),
    (LOWERCASE, " a{}  b ", None),  # metrics ignore white space
    (NFKC, "{} ½", NFKC),
    (f"{NFKC} {LOWERCASE}", "{} A", f"{LOWERCASE} and {NFKC}"),
    ("", "A{} ½", None),
]


@pytest.mark.parametrize("how, targets, changes", CHANGES)
def test_references_that_no_translation_can_equal(
    files, tmp_path, capsys, monkeypatch, how, targets, changes
):
    stop = mock.Mock(side_effect=ValueError("enough"))
    monkeypatch.setattr(training, "make_translator", stop)
    paths = files(source=SOURCES, target=[targets.format(i) for i in range(40)])
    more = ["--text", "characters", *how.split()]
    assert main(options(paths, tmp_path / "run", *more)) == 2
    message = (
        "seqattn: warning: train changes the targets that it reads. Expected "
        f"references that a translation can equal, received 4 of 4 that {changes} "
        "changes, which metrics count as mistakes. Change the targets in the files of "
        f"training and validation in the same way, or leave {changes} out."
    )
    printed = [x for x in capsys.readouterr().err.splitlines() if "warning" in x]
    assert printed == ([message] if changes else [])


def test_one_reference_that_can_be_equalled_is_enough():
    text = ks.text.Characters.learn(["ab"], lowercase=True)
    references = [["A", "a"], ["B"], ["b"], []]
    with pytest.warns(UserWarning, match="received 2 of 4 that --lowercase changes"):
        warn_of_references(text, references)


def test_validation_searches_as_the_settings_say(monkeypatch):
    for name in ("Validation", "AttentionCallback"):
        monkeypatch.setattr(training, name, lambda translator, *_, **__: translator)
    translator = SimpleNamespace(with_search=lambda search: search)
    held = ks.data.Pairs(["a"], ["b"])
    task = ks.data.tasks.Task("files", "", held, held, held)
    run = SimpleNamespace(checkpoints=None, logs=None)
    for width, expected in ((1, ks.Greedy()), (3, ks.BeamSearch(3, 0.5))):
        settings = Settings(validation_beam=width, length_penalty=0.5)
        how = settings, task, translator, run
        assert training.make_validation(*how).translator == expected
        assert training.attention_callbacks(*how) == [expected]


def test_a_word_is_held_out_with_all_its_answers_and_rows_left_out(files):
    words = [f"word{i}" for i in range(30) for _ in "ab"]
    answers = [f"{i} {letter}" for i in range(30) for letter in "ab"]
    paths = files(source=words, target=answers)
    sides = dict(zip(("source", "target"), map(str, paths), strict=True))
    task, reports = read_task(Settings(**sides, validation_size=10))
    held = task.validation.source
    assert not set(held) & set(task.train.source)
    for word, known in zip(held, task.references["validation"], strict=True):
        number = word.removeprefix("word")
        assert known == [f"{number} a", f"{number} b"]
    left = 60 - 10 - len(task.train)
    assert left > 0
    left_out = {"source is in the validation set": left}
    assert reports == {"train": ks.data.Report(60, left_out)}
    paths = files(source=["a b"], target=["c"], s=b"a\n\xff\na\n", t=["x", "y", "z"])
    names = ("source", "target", "validation_source", "validation_target")
    sides = dict(zip(names, map(str, paths), strict=True))
    task, reports = read_task(Settings(**sides, row_errors="skip-all"))
    assert task.references["validation"] == [["x", "z"], ["x", "z"]]
    assert reports["train"] == ks.data.Report(1)
    assert reports["validation"].dropped == {"not UTF-8": 1}


@pytest.mark.parametrize(
    ("max_length", "longer"),
    [(ks.decoding.RelativeLength(2.0, plus=10), 3), (23, 2), (24, 1)],
)
def test_targets_longer_than_any_translation(recwarn, max_length, longer):
    """Lengths with the end token: 6 and 24, 6 and 23, 6 and 90."""
    target = [[5] * 23, [5] * 22, [5] * 89] + [[5]] * 61
    ids = ks.data.EncodedPairs.of([[7] * 5] * 64, target)
    warn_of_lengths(ids, max_length)
    [message] = [str(w.message) for w in recwarn]
    assert message == (
        "train got targets that are longer than any translation can be. Expected at "
        f"most 1 % longer than max_length={max_length}, received {longer} of 64, the "
        "longest of 90 tokens. Add e.g. --max-length 90."
    )
    warn_of_lengths(ids, 90)
    assert len(recwarn) == 1
