"""`seqattn inspect`, `seqattn tasks`, `seqattn export`."""

import shutil

import pytest

from seqattn_command import main


def test_inspects_a_run(trained, capsys):
    assert main(["inspect", str(trained)]) == 0
    said = capsys.readouterr().out
    for words in (
        "seqattn train --task reverse",
        "  learning_rate      0.01\n",
        "train       60 pairs, sha256 ",
        "keras 3.",
        "epoch  step  seconds",
        "best: exact_match ",
        "search      BeamSearch(",
        "source      Characters(), 9 tokens: ",
        "BiEncoder(8, gru_paper)",
        " parameters\n",
    ):
        assert words in said


def test_inspects_a_translator(trained, tmp_path, capsys):
    alone = shutil.copytree(trained / "translator", tmp_path / "translator")
    assert main(["inspect", str(alone)]) == 0
    assert capsys.readouterr().out.startswith(f"translator: {alone}\n")


def test_inspects_a_run_that_has_just_begun(copied, capsys):
    shutil.rmtree(copied / "translator")
    shutil.rmtree(copied / "checkpoints")
    (copied / "history.jsonl").unlink()
    assert main(["inspect", str(copied)]) == 0
    said = capsys.readouterr().out
    assert "best: no validation yet\n" in said
    assert "translator: none yet, the first validation writes it\n" in said


def test_inspects_a_history_with_a_line_half_written(copied, capsys):
    with (copied / "history.jsonl").open("a") as file:
        file.write('{"epoch": 3, "st')
    assert main(["inspect", str(copied)]) == 0
    assert "epoch  step  seconds" in capsys.readouterr().out


def test_prints_a_vocabulary(trained, capsys):
    assert main(["inspect", str(trained), "--vocabulary", "target"]) == 0
    pieces = capsys.readouterr().out.splitlines()
    assert pieces[:4] == ["<pad>", "<s>", "</s>", "<unk>"]
    assert sorted(pieces[4:]) == list("abcde")


def test_nothing_to_inspect(failing, tmp_path):
    assert failing("inspect", tmp_path / "x").endswith(
        f"received '{tmp_path}/x', which does not exist. Check the path; a run "
        "has a translator after its first validation."
    )


def test_lists_tasks(capsys):
    assert main(["tasks"]) == 0
    said = capsys.readouterr().out
    for name in ("dates", "g2p", "numbers", "reverse", "sort"):
        assert f"\n{name:8}  " in f"\n{said}"
    assert said.count("  ->  ") == 10


def test_shows_a_task(capsys):
    assert main(["tasks", "sort", "--task-option", "symbols=0123456789"]) == 0
    said = capsys.readouterr().out
    assert "\nArgs:\n    symbols: " in said
    assert "\n    lengths=(1, 12)\n" in said
    assert "Pairs: 20000 for train, 500 for validation, 500 for test" in said
    assert said.count("  ->  ") == 10


def test_unknown_task(failing):
    assert failing("tasks", "sorts").endswith(
        "received 'sorts'. Use 'sort', the nearest."
    )


def test_options_of_no_task(failing):
    options = ["--task-option", "train=5", "symbols=ab"]
    assert failing("tasks", *options) == (
        "tasks got options without a task. Expected --task-option with the NAME of a "
        "task, received train=5 symbols=ab alone. Name the task first, e.g. seqattn "
        "tasks dates --task-option train=5000."
    )


@pytest.mark.parametrize("words", [[], ["sort"]])
@pytest.mark.parametrize("number", ["0", "-3"])
def test_number_of_examples(failing, words, number):
    assert failing("tasks", *words, "--examples", number) == (
        f"tasks got an unusable --examples. Expected 1 or more, received {number}. "
        "Leave it out to see a few examples."
    )


@pytest.mark.slow
def test_exports(trained, tmp_path, capsys):
    import tensorflow as tf

    import keras_seqattn as ks

    out = tmp_path / "saved_model"
    assert main(["export", str(trained), str(out), "--beam", "1"]) == 0
    assert "serving_default" in capsys.readouterr().err
    served = tf.saved_model.load(str(out)).signatures["serving_default"]
    texts = served(tf.constant(["abc", "ed"]))["text"].numpy()
    greedy = ks.Translator.load(trained / "translator").with_search(ks.Greedy())
    assert [text.decode() for text in texts] == greedy.translate(["abc", "ed"]).texts
