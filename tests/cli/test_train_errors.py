"""What is wrong with the options of `train` is said before anything is done."""

import json
import re
import sys

import pytest

from keras_seqattn.zoo import measured
from tests.cli.tiny import TASK, TINY

SMALL = [*TASK, "--preset", "small"]
ROWS = {
    "no data": (
        [],
        "seqattn got no data. Expected one of --task, --corpus, --pairs and --source, "
        "received none of them. Try --task dates.",
    ),
    "several places": (
        [*TASK, "--pairs", "a.tsv"],
        "seqattn got several data sets. Expected one of --task, --corpus, --pairs "
        "and --source, received --task and --pairs. Leave out the others.",
    ),
    "one side": (
        ["--target", "a.de"],
        "seqattn got one side only. Expected --source and --target, received --target "
        "alone. Name the other file, or use --pairs for one file with both sides.",
    ),
    "one side to choose by": (
        [*TASK, "--validation-source", "a"],
        "seqattn got one side only. Expected --validation-source and "
        "--validation-target, received --validation-source alone. Name the other file, "
        "or use --pairs for one file with both sides.",
    ),
    "two sets to choose by": (
        ["--pairs", "a", "--validation-pairs", "b"]
        + ["--validation-source", "c", "--validation-target", "d"],
        "train got several validation sets. Expected one of "
        "--validation-pairs and --validation-source, received --validation-pairs and "
        "--validation-source. Leave out the other.",
    ),
    "unused": (
        [*TASK, "--languages", "de", "en"],
        "train got a setting that has no effect. Expected --languages only with "
        "--corpus multi30k, received --languages without. Leave it out, or add what it "
        "needs.",
    ),
    "unused with the optimizer of a paper": (
        [*SMALL, "--optimizer", "paper", "--warmup", "4"],
        "train got a setting that has no effect. Expected --warmup only with an "
        "optimizer of Keras, received --warmup without. Leave it out, or add what it "
        "needs.",
    ),
    "warm-up that is there already": (
        [*SMALL, "--schedule", "nvidia_gnmt", "--warmup", "5000"],
        "train got a warm-up for a schedule that has its own. Expected --warmup with "
        "another --schedule, received --warmup 5000 and --schedule nvidia_gnmt. Leave "
        "--warmup out: this schedule warms up in its first 200 steps.",
    ),
    "too small": (
        [*TASK, "--epochs", "0"],
        "train got an unusable --epochs. Expected 1 or more, received 0. See seqattn "
        "train --help.",
    ),
    "too large": (
        [*TASK, "--ema", "1"],
        "train got an unusable --ema. Expected less than 1, received 1.0. See seqattn "
        "train --help.",
    ),
    "no number": (
        [*TASK, "--learning-rate", "nan"],
        "train got an unusable --learning-rate. Expected more than 0, received nan. "
        "See seqattn train --help.",
    ),
    "unknown task": (
        ["--task", "date", "--preset", "small"],
        "seqattn got an unknown task. Expected one of dates, g2p, numbers, reverse, "
        "sort, received 'date'. Use 'dates', the nearest.",
    ),
    "unknown option of a task": (
        ["--task", "sort", "--task-option", "length=3", "--preset", "small"],
        "sort got an unknown argument. Expected one of lengths, seed, symbols, test, "
        "train, validation, received 'length'. Use 'lengths', the nearest.",
    ),
    "tatoeba without a file": (
        ["--corpus", "tatoeba", "--preset", "small"],
        "train got a corpus without its file. Expected --data FILE, one of "
        "https://www.manythings.org/anki, received --corpus tatoeba alone. Download a "
        "file, unpack it, and name it with --data.",
    ),
    "unknown module": (
        [*TASK, "--model", "nowhere.tiny"],
        "train got a model whose module cannot be imported. Expected package.function, "
        "or a function of zoo, received 'nowhere.tiny' (No module named 'nowhere'). "
        "Check the spelling, and start in the folder that holds the module.",
    ),
    "unknown preset": (
        [*TASK, "--preset", "smal"],
        "bahdanau2015 got an unknown preset. Expected one of paper, small, received "
        "'smal'. Use 'small', the nearest.",
    ),
    "unknown argument of a model": (
        [*SMALL, "--set", "unit=3"],
        "bahdanau2015 got an unknown argument. Expected one of attention_deviation, "
        "attention_units, deviation, embedding, maxout, source_vocabulary, "
        "target_vocabulary, units, received 'unit'. Use 'units', the nearest.",
    ),
    "arguments of a model that are missing": (
        [*TASK, "--set", "units=8"],
        "bahdanau2015 lacks arguments. Expected a value for each argument without a "
        "default, received none for embedding, attention_units, maxout. Add --preset "
        "small, or --set embedding=... attention_units=... maxout=....",
    ),
    "no presets": (
        [*TASK, "--model", "tests.cli.own_model.tiny", "--preset", "small"],
        "tests.cli.own_model.tiny got an unknown preset. Expected one of none: there "
        "are none, received 'small'. Check the spelling.",
    ),
    "no optimizer of a paper": (
        [*TASK, "--model", "tests.cli.own_model.tiny", "--optimizer", "paper"],
        "train did not find the optimizer of the paper. Expected a function "
        "tests.cli.own_model.tiny_optimizer beside the model's function, received "
        "none. Name an optimizer of Keras, e.g. --optimizer adam.",
    ),
    "unknown optimizer": (
        [*SMALL, "--optimizer", "adamv"],
        "train got an unknown optimizer. Expected one of adadelta, adafactor, adagrad, "
        "adam, adamax, adamw, ftrl, lamb, lion, muon, nadam, paper, rmsprop, "
        "schedulefreeadamw, sgd, received 'adamv'. Use 'adam', the nearest.",
    ),
    "unknown argument of an optimizer": (
        [*SMALL, "--optimizer", "lion", "--optimizer-option", "beta3=0.9"],
        "lion got an unknown argument. Expected one of ..., received 'beta3'. Use "
        "'beta_2', the nearest.",
    ),
    "unknown metric": (
        [*SMALL, "--metric", "blue"],
        "text_metric got an unknown metric. Expected one of ..., received 'blue'. Use "
        "'bleu', the nearest, ...",
    ),
    "unknown kind of text": (
        [*SMALL, "--text", "letters"],
        "train got an unknown kind of text. Expected one of characters, sentencepiece, "
        "wordpiece, words, received 'letters'. Check the spelling.",
    ),
    "subwords without a size": (
        [*SMALL, "--text", "sentencepiece"],
        "train got subwords without a size. Expected sentencepiece:SIZE, received "
        "'sentencepiece'. Write e.g. sentencepiece:8000.",
    ),
    "unreadable text": (
        [*SMALL, "--text", "words:many"],
        "train got an unusable kind of text. Expected KIND, KIND:SIZE, "
        "sentencepiece:SIZE:bpe or sentencepiece:SIZE:unigram, received 'words:many'. "
        "Write e.g. sentencepiece:8000, characters or words:20000.",
    ),
    "two kinds for one vocabulary": (
        [*SMALL, "--source-text", "words", "--joint"],
        "train got two kinds of text for one vocabulary. Expected the same for both "
        "sides with --joint, received words and what suits the data. Use --text "
        "instead, or leave --joint out.",
    ),
    "texts that cannot be sampled": (
        [*SMALL, "--text", "words", "--sample", "0.1"],
        "train got texts that cannot be sampled. Expected sentencepiece on both sides "
        "with --sample, received words and words. Add --text sentencepiece:8000, or "
        "leave --sample out.",
    ),
}


@pytest.mark.parametrize("options, expected", ROWS.values(), ids=ROWS)
def test_text(failing, tmp_path, options, expected):
    said = failing("train", *options, "--out", tmp_path / "run")
    pattern = re.escape(expected).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, said), said
    assert not (tmp_path / "run").exists()


def test_missing_package_comes_before_the_data(failing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    options = ["--pairs", tmp_path / "nowhere.tsv", "--preset", "small"]
    options += ["--metric", "wer", "bleu", "--out", tmp_path / "run"]
    assert 'pip install "keras_seqattn[metrics]"' in failing("train", *options)


def test_missing_package_for_the_metric_that_suits_the_data(
    failing, files, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    [path] = files(**{"pairs.tsv": ["a\tb", "c\td", "e\tf"]})
    options = ["--pairs", path, "--preset", "small", "--validation-size", "1"]
    said = failing("train", *options, "--out", tmp_path / "run")
    assert 'pip install "keras_seqattn[metrics]"' in said
    assert not (tmp_path / "run").exists()


# Folders ------------------------------------------------------------------------------


def test_neither_out_nor_resume(failing):
    assert failing("train", *SMALL) == (
        "train got no usable folder. Expected --out RUN, --resume RUN, or "
        "--repeat RUN.JSON with --out RUN, received none of them. Try --out runs/first."
    )


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files}


def test_folder_of_another_run(failing, trained):
    before = contents(trained)
    options = [*TASK, *TINY, "--epochs", "2", "--seed", "1", "--ema", "0.9"]
    assert failing("train", *options, "--out", trained) == (
        "train got the folder of another run. Expected a new folder, received --out "
        f"{trained}, of a run with ema=0.0 (not 0.9), seed=0 (not 1). Choose another "
        f"folder; to continue that run: seqattn train --resume {trained}."
    )
    assert contents(trained) == before


def test_folder_of_the_same_run(failing, trained):
    options = [*TASK, *TINY, "--epochs", "2"]
    assert "of a run with the same settings. Choose" in failing(
        "train", *options, "--out", trained
    )


def test_folder_of_something_else(failing, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    assert failing("train", *SMALL, "--out", tmp_path) == (
        "train got a path that holds other files. Expected a new or an empty folder, "
        f"received --out {tmp_path}. Choose another path; this one is unchanged."
    )
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_other_settings_for_a_run_that_goes_on(failing, trained):
    assert failing("train", "--resume", trained, "--seed", "3", "--epochs", "4") == (
        "train got settings that a resumed run cannot change. Expected only epochs, "
        "minutes, patience, on_divergence, received seed=3. Leave them out; "
        "for a new run use --repeat RUN/run.json --out NEW."
    )


def test_no_run(failing, tmp_path):
    assert failing("train", "--resume", tmp_path) == (
        "seqattn found no settings of a run. Expected a run.json that seqattn train "
        f"has written, received '{tmp_path}/run.json', which does not exist. Check the "
        "path: the file is in the folder named by --out."
    )


def test_damaged_run(failing, copied):
    (copied / "run.json").write_text("{")
    assert "received '" in failing("train", "--resume", copied)


def changed(folder, **parts):
    path = folder / "run.json"
    content = json.loads(path.read_text())
    for name, values in parts.items():
        content[name].update(values)
    path.write_text(json.dumps(content))


def test_data_that_have_changed(failing, copied, tmp_path):
    changed(copied, settings={"task_options": {"train": "61"}})
    command = ["train", "--repeat", copied / "run.json", "--out", tmp_path / "new"]
    said = failing(*command)
    assert said.startswith("train got other data than the run. Expected ")


def test_setting_of_another_version(failing, copied):
    changed(copied, settings={"epoch": 3})
    said = failing("train", "--resume", copied)
    assert said.startswith("seqattn found no settings of a run. Expected a run.json ")
    assert "received 'epoch'. Use 'epochs', the nearest. Check the path: " in said


def test_repeat_with_data_from_another_place(failing, trained, tmp_path):
    repeat = ["train", "--repeat", trained / "run.json", "--out", tmp_path / "new"]
    assert failing(*repeat, "--corpus", "multi30k") == (
        "train got another kind of data than the run that it repeats. Expected "
        "--task, as in the run.json, received --corpus. Leave it out, or train without "
        "--repeat."
    )


def test_what_ended_a_training_is_said_first(failing, copied):
    """Not what comes of it: that its best weights are not there to be kept."""
    (copied / "checkpoints" / "best.weights.h5").unlink()
    assert failing("train", "--resume", copied, "--epochs", "3").startswith(
        "Validation got a folder without its best weights. Expected "
    )


def test_settings_of_a_run_that_went_on_are_kept(copied, monkeypatch):
    from keras_seqattn.cli.run_folder import RunFolder
    from keras_seqattn.cli.run_json import settings_from_dict

    about = {"command": ["train", "--resume", "x", "--epochs", "3"], "data": {}}
    run = RunFolder(copied, about)
    content = run.content()
    settings = settings_from_dict(content["settings"])
    del content["settings"]["precision"]  # of a version before there was one
    (copied / "run.json").write_text(json.dumps(content))
    run.begin(settings, *run.texts())
    assert "continued" not in run.content()  # it is the same run
    run.begin(settings.with_(epochs=3), *run.texts())
    assert run.content()["continued"] == ["seqattn train --resume x --epochs 3"]
    with pytest.raises(ValueError, match="measured got a run with changed settings"):
        measured.add(copied, "table/name", "what", [])
