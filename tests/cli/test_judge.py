"""`seqattn evaluate` and `seqattn score`."""

import json
import sys

import pytest

import keras_seqattn as ks
from keras_seqattn.cli import evaluate, score
from keras_seqattn.cli.run_json import settings_from_dict
from keras_seqattn.cli.training_data import fingerprints, read_task
from seqattn_command import main

PAIRS = [("abc", "cba"), ("de", "ed"), ("b", "b")]


@pytest.fixture(scope="module")
def translator(trained):
    return ks.Translator.load(trained / "translator")


@pytest.fixture
def loaded(translator, monkeypatch):
    for module in (evaluate, score):
        monkeypatch.setattr(module, "load_translator", lambda *_, **__: translator)
    return translator


def test_evaluates_the_test_set_of_its_task(loaded, trained, tmp_path, capsys):
    out = tmp_path / "texts"
    assert main(["evaluate", str(trained), "--json", "--output", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    options = {"symbols": "abcde", "lengths": (1, 4)}
    test = ks.data.tasks.reverse(train=60, validation=10, test=12, **options).test
    texts = loaded.translate(test.source).texts
    assert out.read_text().splitlines() == texts
    assert said["texts"] == 12
    assert said["exact_match"] == ks.metrics.exact_match(texts, test.target)


def test_evaluates_files(loaded, trained, files, capsys):
    paths = files(source=[s for s, _ in PAIRS], target=[t for _, t in PAIRS])
    sides = ["--source", str(paths[0]), "--target", str(paths[1])]
    assert main(["evaluate", str(trained), *sides, "--metric", "chrf", "wer"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["chrf", "wer"]
    assert "nrefs:1" in rows[0]  # what sacreBLEU says of itself


@pytest.fixture
def trained_from_files(copied, files):
    """A run that looks as if it had been trained from two files."""
    sources = [f"{a}{b}" for a in "abcde" for b in "abcde"]
    paths = files(source=sources, target=[text[::-1] for text in sources])
    path = copied / "run.json"
    run = json.loads(path.read_text())
    sides = dict(zip(("source", "target"), map(str, paths), strict=True))
    own = {"task": None, "task_options": {}, "validation_size": 4, **sides}
    settings = {**run["settings"], **own}
    task, _ = read_task(settings_from_dict(settings))
    data = fingerprints(task)
    path.write_text(json.dumps({**run, "settings": settings, "data": data}))
    return copied


@pytest.mark.parametrize("options", [[], ["--batch-size", "3"]])
def test_judges_what_a_run_from_files_held_out(
    loaded, trained_from_files, capsys, options
):
    run = str(trained_from_files)
    assert main(["evaluate", run, "--json", "--metric", "wer", *options]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["texts"] == 4
    note = "the validation set of the run, which chose its best translator:\n"
    assert note in printed.err
    assert main(["score", run, *options]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 4 and note in printed.err


@pytest.mark.parametrize(
    ("verb", "options", "remedy"),
    [
        (
            "evaluate",
            ["--metric", "wer"],
            "name other files with --source and --target",
        ),
        ("score", [], "name other files with --source and --target"),
        ("inspect", ["--html", "page.html"], "name a sentence with --text"),
    ],
)
def test_files_that_have_grown_are_held_out_otherwise(
    failing, trained_from_files, tmp_path, monkeypatch, verb, options, remedy
):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("source", "abc\nde\n"), ("target", "cba\ned\n")):
        with (tmp_path / name).open("a") as file:
            file.write(lines)
    assert failing(verb, trained_from_files, *options) == (
        "seqattn got another validation set than the one of the run. Expected 4 pairs "
        f"with the checksum in {trained_from_files}/run.json, received 4 pairs with "
        f"another checksum. Restore the old data, or {remedy}."
    )
    assert not (tmp_path / "page.html").exists()


def test_a_validation_set_of_its_own_stays_the_same(
    loaded, trained_from_files, files, capsys
):
    held = dict(zip(("valid_source", "valid_target"), (["ab"], ["ba"]), strict=True))
    paths = files(**held)
    path = trained_from_files / "run.json"
    run = json.loads(path.read_text())
    run["settings"] |= {
        "validation_source": str(paths[0]),
        "validation_target": str(paths[1]),
    }
    task, _ = read_task(settings_from_dict(run["settings"]))
    run["data"]["validation"] = fingerprints(task)["validation"]
    path.write_text(json.dumps(run))  # of the training set the old checksum
    assert main(["score", str(trained_from_files)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "name", "condition"),
    [
        (
            ["--source", "a", "--target", "b", "--tokenized"],
            "tokenized",
            "--corpus multi30k",
        ),
        (["--pairs", "a", "--languages", "en", "de"], "languages", "--corpus multi30k"),
        (
            ["--source", "a", "--target", "b", "--columns", "0", "1"],
            "columns",
            "--pairs",
        ),
    ],
)
def test_options_that_nothing_would_use(failing, trained, options, name, condition):
    for verb in ("evaluate", "score"):
        assert failing(verb, trained, *options) == (
            f"seqattn got a setting that has no effect. Expected --{name} only with "
            f"{condition}, received --{name} without. Leave it out, or add what it "
            "needs."
        )


def test_output_that_cannot_be_written_comes_before_the_work(failing, tmp_path):
    said = failing("evaluate", tmp_path / "no run", "--output", tmp_path / "no" / "x")
    assert said == (
        "seqattn got an output that it cannot write. Expected a file in a folder that "
        f"exists, received --output {tmp_path}/no/x, in a folder that does not exist. "
        "Choose another path."
    )


def test_numbers_are_said_before_texts_are_written(
    translator, trained, tmp_path, monkeypatch, capsys
):
    out = tmp_path / "texts"

    def load(*how, **options):
        out.mkdir()  # meanwhile somebody has
        return translator

    monkeypatch.setattr(evaluate, "load_translator", load)
    assert main(["evaluate", str(trained), "--output", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("exact_match  ")
    assert "seqattn: error: " in printed.err


def test_missing_package_comes_before_the_pairs(
    failing, trained, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    pairs = tmp_path / "nowhere.tsv"
    said = failing("evaluate", trained, "--pairs", pairs, "--metric", "wer", "chrf")
    assert 'pip install "keras_seqattn[metrics]"' in said


def test_unknown_metric_comes_before_the_work(failing, trained):
    said = failing("evaluate", trained, "--metric", "blue")
    assert said.startswith("text_metric got an unknown metric.")


def test_scores(loaded, trained, files, capsys):
    [path] = files(**{"pairs.tsv": [f"{s}\t{t}" for s, t in PAIRS]})
    assert main(["score", str(trained), "--pairs", str(path)]) == 0
    printed = capsys.readouterr()
    scores = [float(line) for line in printed.out.splitlines()]
    pairs = ks.data.Pairs(*zip(*PAIRS, strict=True))
    assert scores == pytest.approx(loaded.score(pairs), abs=1e-4)
    assert "3 pairs, 9 target tokens, end tokens included, log-prob" in printed.err


def test_no_pairs(failing, trained, tmp_path):
    (tmp_path / "translator").symlink_to(trained / "translator")
    assert failing("score", tmp_path / "translator") == (
        "seqattn got no pairs. Expected --source and --target, --pairs, --task or "
        f"--corpus, received none of them, and '{tmp_path}/translator', which is not "
        "a run with its own data. Name the files."
    )


def test_files_have_no_split(failing, trained, files):
    [path] = files(**{"pairs.tsv": ["a\tb"]})
    assert failing("score", trained, "--pairs", path, "--split", "test") == (
        "seqattn got a split of files. Expected --split only for a task or a corpus, "
        "received --split test and files. Leave it out: all pairs of the files are "
        "used."
    )


def test_any_answer_that_the_files_list_is_right(loaded, trained, files, capsys):
    """Where an answer is right or wrong; BLEU and chrF compare line by line."""
    [translation] = loaded.translate(["abc"]).texts
    paths = files(source=["abc", "abc"], target=["ccccc", translation or "c"])
    sides = ["--source", str(paths[0]), "--target", str(paths[1])]
    metrics = ["--metric", "exact_match", "wer", "per", "chrf"]
    assert main(["evaluate", str(trained), *sides, *metrics, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["exact_match"], said["wer"], said["per"]) == (100, 0, 0)
    assert said["chrf"] < 100


def test_pairs_that_are_not_judged_are_said(loaded, trained, files, capsys):
    paths = files(source=b"abc\n\xff\nde\n", target=["cba", "x", "ed"])
    sides = ["--source", str(paths[0]), "--target", str(paths[1])]
    assert main(["score", str(trained), *sides, "--encoding-errors", "skip"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert "1 pairs are left out: not UTF-8\n" in printed.err
