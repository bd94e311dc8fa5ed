"""`seqattn train --init-from`, `--freeze`, and word vectors."""

import json
import shutil

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import training
from keras_seqattn.cli.chosen_settings import choose_settings
from keras_seqattn.cli.export import run_manifest
from keras_seqattn.cli.init_from import complete_model, load_trained, starting_texts
from keras_seqattn.cli.run_folder import RunFolder
from keras_seqattn.cli.training_data import read_task
from keras_seqattn.cli.word_vectors import start_from_vectors
from seqattn_command import main
from seqattn_command.settings import Settings
from tests.cli.runs import assert_same_run, flip, resume
from tests.cli.tiny import TASK
from tests.raised import check_error

HOW = [*TASK, *"--epochs 1 --batch-size 20 --beam 2 --learning-rate 0.01".split()]
HOW += "--freeze encoder decoder/cell/attention --ema 0.9 --average 2".split()
HOW += "--optimizer adamw --weight-decay 0.1 --seed 3".split()


def parts(folder):
    model = ks.Translator.load(folder).model
    return model.encoder.get_weights(), model.head.get_weights(), model


def test_a_run_from_a_trained_translator(copied, tmp_path, capsys):
    """Frozen layers stay, and a resumed run does not read the trained one again."""
    encoder, head, _ = parts(copied / "translator")
    out = tmp_path / "new"
    assert main(["train", *HOW, "--init-from", str(copied), "--out", str(out)]) == 0
    printed = capsys.readouterr().err
    assert "Kept all weights: no token is new.\n" in printed
    assert "source_text" not in printed and "1,016 of them frozen" in printed
    settings = json.loads((out / "run.json").read_text())["settings"]
    assert settings["init_from"] == str(copied) and settings["model"] is None
    shutil.rmtree(copied)
    assert resume(out) == 0
    translator = ks.Translator.load(out / "translator")
    assert "model" not in run_manifest(out, translator)
    start, (found, learned, model) = parts(out / "start"), parts(out / "translator")
    for a, b, c in zip(encoder, start[0], found, strict=True):
        assert np.array_equal(a, b) and np.array_equal(a, c)
    assert np.array_equal(head[0], start[1][0])
    assert not np.array_equal(head[0], learned[0])
    assert len(model.trainable_weights) == len(model.weights)
    shutil.rmtree(out / "start")
    assert resume(out) == 2
    said = "train found a run without the translator that it began with"
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_same_weights(trained, tmp_path):
    """Also if it was killed before it had stored what it starts from; and repeated."""
    command = ["train", *HOW, "--init-from", str(trained)]
    command += "--text characters --model luong2015 --preset small".split()
    command += "--set units=8 embedding=8 dropout=0.2 layers=1".split()
    command += "--precision bfloat16".split()
    runs = [tmp_path / name for name in ("whole", "parts")]
    for run in runs:
        assert main([*command, "--epochs", "2", "--out", str(run)]) == 0
    for lost in ("checkpoints/state-2*", "checkpoints/state-*"):
        for path in runs[1].glob(lost):
            path.unlink()
        assert resume(runs[1]) == 0
        assert_same_run(*runs)
        shutil.rmtree(runs[1] / "start")
    again = tmp_path / "again"
    assert main(["train", "--repeat", str(runs[0]), "--out", str(again)]) == 0
    assert_same_run(again, runs[0])


def settings_of(*options, **values):
    found = Settings(task="reverse", task_options={"train": "20"}, epochs=1, **values)
    return found.with_(beam=2, **dict(options))


def begun(folder, tmp_path, **values):
    """The translator with which a run begins, and its settings."""
    run = RunFolder(tmp_path / "run")
    settings = settings_of(init_from=str(folder), **values)
    trained = load_trained(settings, run)
    settings = complete_model(settings)
    task, _ = read_task(settings)
    settings, _ = choose_settings(settings, task, trained)
    texts = starting_texts(settings, task.train, trained)
    return training.make_translator(settings, *texts, trained), settings, trained


@pytest.mark.parametrize(
    "values, kept, units",
    [
        ({}, "all weights", 8),
        ({"source_text": "words"}, "4 of 24 rows of the source embedding", 8),
        ({"source_text": "words", "target_text": "words", "joint": True}, "4 of 4", 8),
        ({"set": {"units": "6"}}, "9 of 9 rows of the source embedding", 6),
        ({"preset": "small", "set": {"embedding": "8"}}, "9 of 9 rows", 64),
    ],
)
def test_texts_and_sizes(trained, tmp_path, capsys, values, kept, units):
    """They stay, unless options change them."""
    translator, settings, old = begun(trained, tmp_path, **values)
    assert f"Kept {kept}" in capsys.readouterr().err
    assert translator.model.encoder.units == units
    for side in ("source", "target"):
        is_old = f"{side}_text" not in values
        assert is_old == (getattr(settings, f"{side}_text") is None)
        text = getattr(translator, f"{side}_text")
        assert is_old == (text is getattr(old, f"{side}_text"))
    assert (translator.source_text is translator.target_text) == ("joint" in values)


def test_a_trained_subword_text_samples(tmp_path, monkeypatch):
    text = ks.text.SentencePiece.learn(["the cat", "the hat"] * 3, 12)
    old = ks.Translator(ks.translator.recommended_model(12, 12, units=4), text, text)
    pairs = ks.data.Pairs(["a"], ["b"])
    found = starting_texts(settings_of(sample=0.4), pairs, old)
    assert found[0] is found[1] and found[0].alpha == 0.4
    assert found[0].vocabulary == text.vocabulary and text.alpha == 0.1
    assert starting_texts(settings_of(), pairs, old) == (text, text)


def test_damaged_weights_of_the_trained_translator(fails, copied, tmp_path):
    flip(copied / "translator/model.keras")
    words = ["train", *TASK, "--init-from", copied, "--out", tmp_path / "new"]
    fails([*map(str, words)], "Translator.load", "model.keras")
    assert not (tmp_path / "new").exists()


def test_word_vectors(files, tmp_path, capsys):
    [path] = files(vectors="2 3\none 1 2 3\ntwo 4 5 6\n")
    texts = [ks.text.Words.learn([each]) for each in ("one two three", "x")]
    sizes = [text.vocabulary_size for text in texts]
    model = ks.translator.recommended_model(*sizes, units=3)
    translator = ks.Translator(model, *texts)
    before = model.target_embedding.get_weights()
    start_from_vectors(Settings(source_vectors=str(path)), translator)
    rows = model.source_embedding.get_weights()[0]
    assert rows[texts[0].encode("two one").numpy()].tolist() == [[4, 5, 6], [1, 2, 3]]
    assert np.array_equal(before, model.target_embedding.get_weights())
    assert f"{path}: vectors of 2 of 7 source tokens\n" in capsys.readouterr().err
    task = ks.data.tasks.task("reverse", train=20)
    chosen, _ = choose_settings(Settings(source_vectors=str(path)), task)
    assert (chosen.source_text, chosen.target_text) == ("words", "characters")
    check_error(
        lambda: start_from_vectors(Settings(target_vectors=str(path)), translator),
        "word_vectors found no word of the vocabulary",
    )
    model = ks.translator.recommended_model(*sizes, units=4)
    check_error(
        lambda: start_from_vectors(
            Settings(source_vectors=str(path)), ks.Translator(model, *texts)
        ),
        "word_vectors got vectors that do not fit the embedding. Expected vectors of 4 "
        "numbers, received 3 numbers in",
    )
