"""`seqattn evaluate` and `seqattn score`."""

import json

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


@pytest.fixture
def sides(files):
    def sides(source, target):
        paths = files(source=source, target=target)
        return ["--source", paths[0], "--target", paths[1]]

    return sides


def test_evaluates_the_test_set_of_its_task(loaded, trained, tmp_path, succeeds):
    out = tmp_path / "texts"
    found = json.loads(succeeds("evaluate", trained, "--json", "--output", out).out)
    options = {"symbols": "abcde", "lengths": (1, 4)}
    test = ks.data.tasks.reverse(train=60, validation=10, test=12, **options).test
    texts = loaded.translate(test.source).texts
    assert out.read_text().splitlines() == texts
    assert found["texts"] == 12
    assert found["exact_match"] == ks.metrics.exact_match(texts, test.target)


def test_evaluates_and_scores_files(loaded, trained, sides, files, succeeds):
    options = sides(*map(list, zip(*PAIRS, strict=True)))
    found = succeeds("evaluate", trained, *options, "--metric", "chrf", "wer")
    rows = found.out.splitlines()
    assert [row.split()[0] for row in rows] == ["chrf", "wer"]
    assert "nrefs:1" in rows[0]  # the signature of sacreBLEU
    [path] = files(**{"pairs.tsv": [f"{s}\t{t}" for s, t in PAIRS]})
    printed = succeeds("score", trained, "--pairs", path)
    scores = [float(line) for line in printed.out.splitlines()]
    pairs = ks.data.Pairs(*zip(*PAIRS, strict=True))
    assert scores == pytest.approx(loaded.score(pairs), abs=1e-4)
    assert "3 pairs, 9 target tokens, end tokens included, log-prob" in printed.err


def test_listed_answers_count_and_rows_are_left_out(loaded, trained, sides, succeeds):
    [translation] = loaded.translate(["abc"]).texts
    options = sides(["abc", "abc"], ["ccccc", translation or "c"])
    metrics = ["--metric", "exact_match", "wer", "per", "chrf"]
    found = json.loads(succeeds("evaluate", trained, *options, *metrics, "--json").out)
    assert (found["exact_match"], found["wer"], found["per"]) == (100, 0, 0)
    assert found["chrf"] < 100
    options = sides(b"abc\n\xff\nde\n", ["cba", "x", "ed"])
    printed = succeeds("score", trained, *options, "--row-errors", "skip-all")
    assert [bool(line) for line in printed.out.splitlines()] == [True, False, True]
    table = "data: 2 of 3 pairs kept\n      1 not UTF-8  line 2: \ufffd | x\n"
    assert printed.err.startswith(table)


def test_metrics_are_printed_before_texts_are_written(
    translator, trained, tmp_path, monkeypatch, capsys
):
    out = tmp_path / "texts"

    def load(*how, **options):
        out.mkdir()  # now it cannot be written
        return translator

    monkeypatch.setattr(evaluate, "load_translator", load)
    assert main(["evaluate", str(trained), "--output", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("exact_match  ")
    assert "seqattn: error: " in printed.err


@pytest.fixture
def trained_from_files(copied, files):
    """A run that looks as if it had been trained from two files."""
    sources = [f"{a}{b}" for a in "abcde" for b in "abcde"]
    source, target = files(source=sources, target=[text[::-1] for text in sources])
    run = json.loads((copied / "run.json").read_text())
    run["settings"] |= {"source": str(source), "target": str(target), "task": None}
    run["settings"] |= {"task_options": {}, "validation_size": 4}
    run["data"] = data_of(run)
    (copied / "run.json").write_text(json.dumps(run))
    return copied


def data_of(run):
    return fingerprints(read_task(settings_from_dict(run["settings"]))[0])


@pytest.mark.parametrize("options", [[], ["--batch-size", "3"]])
def test_reads_what_the_run_held_out(loaded, trained_from_files, succeeds, options):
    run = trained_from_files
    printed = succeeds("evaluate", run, "--json", "--metric", "wer", *options)
    assert json.loads(printed.out)["texts"] == 4
    note = "the validation set of the run, which chose its best translator:\n"
    assert note in printed.err
    printed = succeeds("score", run, *options)
    assert len(printed.out.splitlines()) == 4 and note in printed.err


ELSE = "name other files with --source and --target."
LEFT = {"evaluate RUN --metric wer": ELSE, "score RUN": ELSE}
LEFT["inspect RUN --html page.html"] = "name a sentence with --text."


@pytest.mark.parametrize("command, remedy", LEFT.items())
def test_other_pairs_are_held_out_of_longer_files(
    fails, trained_from_files, tmp_path, monkeypatch, command, remedy
):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("source", "abc\nde\n"), ("target", "cba\ned\n")):
        with (tmp_path / name).open("a") as file:
            file.write(lines)
    fails(
        command.replace("RUN", str(trained_from_files)),
        "seqattn got another validation set than the one of the run",
        f"4 pairs with the checksum in {trained_from_files}/run.json, received 4 pairs "
        f"with another checksum. Restore the old data, or {remedy}",
    )
    assert not (tmp_path / "page.html").exists()


def test_its_own_validation_set_stays(loaded, trained_from_files, files, succeeds):
    source, target = map(str, files(valid_source=["ab"], valid_target=["ba"]))
    path = trained_from_files / "run.json"
    run = json.loads(path.read_text())
    run["settings"] |= {"validation_source": source, "validation_target": target}
    run["data"]["validation"] = data_of(run)["validation"]
    path.write_text(json.dumps(run))  # the checksum of the training set is the old one
    assert len(succeeds("score", trained_from_files).out.splitlines()) == 1
