"""`seqattn export`: what it writes, and what the manifest knows of the run."""

import contextlib
import io
import json
import shutil

import pytest

import keras_seqattn as ks
from keras_seqattn import manifest, zoo
from keras_seqattn.cli.export import run_manifest
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.translator.translator import Translator
from seqattn_command import main
from tests.cli.tiny import TASK
from tests.translator import tiny


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "warmup.txt").write_text("abc\ned\n")
    options = ["--beam", "1", "--version", "7", "--warmup", str(folder / "warmup.txt")]
    options += ["--note", "licence=CC0-1.0", "--note", "task=reverse"]
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        assert main(["export", str(trained), str(folder / "x"), *options]) == 0
    assert f"{folder}/x/7 has the signatures serving_default" in printed.getvalue()
    return folder / "x/7"


def test_the_manifest_knows_the_run(trained, exported):
    content = manifest.verify(exported)
    run = json.loads((trained / "run.json").read_text())
    arguments = content["model"]["arguments"]
    sizes = {"units": 8, "embedding": 8, "attention_units": 8, "maxout": 4}
    sizes |= {"source_vocabulary": 9, "target_vocabulary": 9}
    assert content["model"]["function"] == "zoo.bahdanau2015"
    assert arguments == {"preset": "small", **sizes}
    parameters = zoo.bahdanau2015(**arguments).count_params()
    assert content["model"]["parameters"] == parameters
    validated = json.loads((trained / "checkpoints/validation.json").read_text())
    best = [entry["values"] for entry in validated["entries"] if entry["best"]][-1]
    assert content["metrics"] == {"validation": best}
    assert content["command"] == run["command"]
    assert content["command"].startswith(f"seqattn train {' '.join(TASK[:2])}")
    assert (content["seed"], content["data"]) == (0, run["data"])
    assert content["trained_with"] == run["versions"]
    assert (content["licence"], content["task"]) == ("CC0-1.0", "reverse")
    assert content["search"]["class"] == "Greedy"
    requests = (exported / "assets.extra/tf_serving_warmup_requests").read_bytes()
    assert b"abc" in requests and b"ed" in requests  # of the file of --warmup


def test_a_translator_without_a_run(trained, tmp_path):
    alone = shutil.copytree(trained / "translator", tmp_path / "a/translator")
    assert run_manifest(alone, ks.Translator.load(alone)) == {}


def test_what_lies_beside_a_run_is_not_of_the_run(copied, tmp_path, monkeypatch):
    """`cd RUN; seqattn export dates OUT` exports a shipped model."""
    monkeypatch.chdir(copied)
    (copied / "other").mkdir()
    for path in ("dates", "other", "checkpoints", copied / "other", tmp_path / "x"):
        assert find_run(path) is None
    for path in (".", copied, "translator", "translator/", copied / "translator"):
        assert find_run(path).path.absolute() == copied
    monkeypatch.chdir(copied / "translator")
    assert find_run(".").path == copied


LENGTHS = ["--source-length", "6", "--target-length", "22"]  # 2 * 6 + 10
SENTENCES = ["one two", "two", "three two one", "two six", "", "one one one"]


def export(run, out, *options):
    return main(["export", str(run), str(out), "--litert", *LENGTHS, *options])


def test_a_run(trained, tmp_path, capsys):
    path = tmp_path / "new/run.tflite"
    assert export(trained, path, "--batch", "2") == 0
    assert capsys.readouterr().err.splitlines()[-2:] == [
        f"{path} ({path.stat().st_size / 1e6:.1f} MB) has one signature, from text to "
        "texts, scores,",
        "tokens and alignments",
    ]
    translate, eager = litert_function(path), load_translator(trained)
    assert eager.search == ks.BeamSearch(2, length_penalty=1.0)
    found = []
    for texts in (["a", "bcd"], ["", "edcb"], ["eda", "zc"]):
        received = [text.decode() for text in translate(texts)["texts"][:, 0]]
        assert received == eager(texts).texts
        found += received
    assert len({*found}) > 2
    assert [file.name for file in path.parent.iterdir()] == ["run.tflite"]


@pytest.fixture
def saved(tmp_path):
    words = ks.text.Words.learn(SENTENCES)
    made = tiny.translator(words, words, max_length=4)
    made.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_another_search_and_smaller_weights(saved, tmp_path):
    path = tmp_path / "words.tflite"
    assert export(saved, path, "--beam", "1", "--weights", "float16") == 0
    translate, eager = litert_function(path), load_translator(saved, beam=1)
    for sentence in SENTENCES:
        [[text]] = translate([sentence])["texts"]
        assert text.decode() == eager(sentence).text
    assert len({*eager(SENTENCES).texts}) > 2


@pytest.fixture
def asked(monkeypatch):
    found = {}

    def export_litert(translator, path, **how):
        found.update(search=translator.search, **how)
        with open(path, "wb") as file:
            file.write(b"content")

    monkeypatch.setattr(Translator, "export_litert", export_litert)
    return found


def test_options(saved, tmp_path, asked):
    lengths = {"source_length": 6, "target_length": 22}
    assert export(saved, tmp_path / "x") == 0
    assert asked == {"search": tiny.BEAM, "batch": 1, "weights": "float32", **lengths}
    options = "--batch 3 --weights int8 --beam 4 --length-penalty 0.5"
    assert export(saved, tmp_path / "x", *options.split()) == 0
    search = ks.BeamSearch(4, 0.5, n_best=2)  # n_best is its own
    assert asked == {"search": search, "batch": 3, "weights": "int8", **lengths}


def test_the_file_is_neither_served_nor_a_translator(fails, tmp_path):
    path = tmp_path / "x.tflite"
    path.write_bytes(b"content")
    remedy = f"received {str(path)!r}, a file", "Name the folder that seqattn export"
    fails(f"serve {path}", "serve found no exported model", *remedy)
    fails(f"inspect {path}", "seqattn found no translator", path)
