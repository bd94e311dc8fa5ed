"""`seqattn train`: what it leaves behind, going on, doing it again, being stopped."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from seqattn_command import main
from tests.cli.tiny import TASK, TINY

ROOT = Path(__file__).parent.parent.parent


def history(folder):
    """The entries without the time and the memory that they took."""
    lines = (folder / "history.jsonl").read_text().splitlines()
    return [{**json.loads(line), "seconds": 0, "memory": 0} for line in lines]


def weights(folder):
    return ks.Translator.load(folder / "translator").model.get_weights()


def assert_same_weights(one, other):
    for a, b in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_folder(trained):
    assert {path.name for path in trained.iterdir()} == {
        *("checkpoints", "history.jsonl", "logs", "run.json", "text", "translator")
    }
    assert {path.name for path in (trained / "checkpoints").iterdir()} == {
        *("best.weights.h5", "best.weights.h5.sha256", "validation.json"),
        *(f"state-{n}.weights.h5{end}" for n in (1, 2) for end in ("", ".sha256")),
    }
    assert [entry["step"] for entry in history(trained)] == [3, 6]
    assert "val_exact_match" in history(trained)[0]


def test_run_json(trained):
    run = json.loads((trained / "run.json").read_text())
    assert run["command"].startswith("seqattn train --task reverse --task-option train")
    settings = run["settings"]
    assert settings["source_text"] == "characters"  # what was left open is there, too
    assert settings["metric"] == ["exact_match"]
    assert settings["set"]["units"] == "8"
    assert run["data"]["train"]["pairs"] == 60
    assert set(run["versions"]) == {
        *("python", "keras_seqattn", "keras", "tensorflow", "tensorflow-text")
    }


def test_translator_is_the_best_one(trained):
    translator = ks.Translator.load(trained / "translator")
    assert translator.search == ks.BeamSearch(2, length_penalty=1.0)
    best = ks.Translator.load(trained / "translator").model
    best.load_weights(trained / "checkpoints" / "best.weights.h5")
    for a, b in zip(translator.model.get_weights(), best.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_goes_on(copied, capsys):
    assert main(["train", "--resume", str(copied), "--epochs", "3"]) == 0
    assert [entry["epoch"] for entry in history(copied)] == [1, 2, 3]
    assert [entry["step"] for entry in history(copied)] == [3, 6, 9]
    assert json.loads((copied / "run.json").read_text())["settings"]["epochs"] == 3
    assert "holds the best translator, exact_match" in capsys.readouterr().err


def test_time_and_memory(trained):
    """Where they were measured, too; a run that goes on goes on counting."""
    lines = (trained / "history.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert 0 < entries[0]["seconds"] <= entries[1]["seconds"]
    assert 100 < entries[0]["memory"] <= entries[1]["memory"] < 100_000
    assert re.fullmatch(
        r".+, \d+ cores?", json.loads((trained / "run.json").read_text())["machine"]
    )


def test_sampled_subwords(tmp_path, recwarn):
    """Every epoch has as many steps as without; nobody hears that data ran out."""
    texts = ["--text", "sentencepiece:14:bpe", "--sample", "0.3", "--joint"]
    options = [*TASK, *TINY, *texts, "--epochs", "3", "--seed", "1"]
    assert main(["train", *options, "--out", str(tmp_path / "run")]) == 0
    assert [entry["step"] for entry in history(tmp_path / "run")] == [3, 6, 9]
    assert ks.Translator.load(tmp_path / "run/translator").source_text.alpha == 0.3
    assert not [w for w in recwarn if "ran out of data" in str(w.message)]


LONGER = ["--model", "luong2015", "--set", "dropout=0.2", "layers=1"]
LONGER += ["--ema", "0.9", "--schedule", "cosine", "--warmup", "2", "--average", "2"]
SIZES = ["--preset", "small", "--set", "units=8", "embedding=8", "--batch-size", "20"]


@pytest.mark.slow
def test_going_on_and_repeating_change_nothing(tmp_path, copied):
    # Dropout, averages and a schedule: everything that has a state.
    whole, parts, again = (tmp_path / name for name in ("whole", "parts", "again"))
    options = ["train", *TASK, *SIZES, *LONGER, "--epochs", "3"]
    assert main([*options, "--out", str(whole)]) == 0
    # The clock stops the other one in its first step: no epoch is done yet.
    assert main([*options, "--out", str(parts), "--minutes", "1e-9"]) == 0
    assert not (parts / "history.jsonl").exists()
    assert ks.Translator.load(parts / "translator").translate(["abc"]).texts
    assert main(["train", "--resume", str(parts), "--minutes", "60"]) == 0
    assert history(parts) == history(whole)
    assert_same_weights(parts, whole)
    repeat = ["train", "--repeat", str(whole / "run.json"), "--out", str(again)]
    assert main(repeat) == 0
    assert history(again) == history(whole)
    assert_same_weights(again, whole)


@pytest.mark.slow
def test_state_between_epochs_is_whole(tmp_path, monkeypatch):
    from keras_seqattn.cli.run_callbacks import TimeLimit

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    options = ["train", *TASK, *SIZES, *LONGER, "--epochs", "3"]
    assert main([*options, "--out", str(whole)]) == 0
    with monkeypatch.context() as patched:
        patched.setattr(TimeLimit, "on_train_batch_end", interrupt_in_epoch_3)
        assert main([*options, "--out", str(parts)]) == 130
    assert [entry["epoch"] for entry in history(parts)] == [1, 2]
    assert main(["train", "--resume", str(parts)]) == 0
    assert history(parts) == history(whole)
    assert_same_weights(parts, whole)


def interrupt_in_epoch_3(limit, batch, logs=None):
    if int(limit.model.optimizer.iterations) == 8:
        raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("line", ["Epoch 1/", "Epoch 3/"])
def test_a_signal_leaves_a_translator(tmp_path, number, line):
    folder = tmp_path / "run"
    options = ["train", *TASK, *TINY, "--epochs", "10000", "--out", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "seqattn_command.py", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        for said in process.stdout:
            if line in said:
                process.send_signal(getattr(signal, number))
                break
        rest = process.stdout.read()
    assert process.returncode == 130
    assert "Traceback" not in rest
    which = "the best translator" if "3" in line else "the last weights"
    assert f"stopped: {folder}/translator holds {which}" in rest
    assert ks.Translator.load(folder / "translator").translate(["abc"]).texts
    done = len(history(folder)) if (folder / "history.jsonl").exists() else 0
    assert main(["train", "--resume", str(folder), "--epochs", str(done + 1)]) == 0
    assert len(history(folder)) == done + 1


def test_half_precision_where_it_is_wanted(tmp_path):
    """The model computes in it, keeps float32 weights, and nobody else notices."""
    run = tmp_path / "run"
    options = [*TASK, *TINY, "--epochs", "1", "--precision", "bfloat16"]
    assert main(["train", *options, "--out", str(run)]) == 0
    assert keras.config.dtype_policy().name == "float32"
    model = ks.Translator.load(run / "translator").model
    assert model.decoder.compute_dtype == model.encoder.compute_dtype == "bfloat16"
    assert {weight.dtype for weight in model.trainable_variables} == {"float32"}
