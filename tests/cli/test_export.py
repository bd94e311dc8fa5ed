"""`seqattn export`: what it writes, and what the manifest knows of the run."""

import json
import shutil

import pytest

import keras_seqattn as ks
from keras_seqattn import manifest, zoo
from seqattn_command import main
from tests.cli.tiny import TASK


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    """Of the run, with everything that one can say."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "warmup.txt").write_text("abc\ned\n")
    options = ["--beam", "1", "--version", "7", "--warmup", str(folder / "warmup.txt")]
    options += ["--note", "licence=CC0-1.0", "--note", "task=reverse"]
    assert main(["export", str(trained), str(folder / "x"), *options]) == 0
    return folder / "x/7"


def test_the_manifest_knows_the_run(trained, exported):
    content = manifest.verify(exported)
    run = json.loads((trained / "run.json").read_text())
    arguments = content["model"]["arguments"]
    assert content["model"]["function"] == "zoo.bahdanau2015"
    assert arguments == {
        "preset": "small",
        **{"units": 8, "embedding": 8, "attention_units": 8, "maxout": 4},
        **{"source_vocabulary": 9, "target_vocabulary": 9},
    }
    assert (
        zoo.bahdanau2015(**arguments).count_params() == content["model"]["parameters"]
    )
    validated = json.loads((trained / "checkpoints/validation.json").read_text())
    best = [entry["values"] for entry in validated["entries"] if entry["best"]][-1]
    assert content["metrics"] == {"validation": best}
    assert content["command"] == run["command"]
    assert content["command"].startswith(f"seqattn train {' '.join(TASK[:2])}")
    assert (content["seed"], content["data"]) == (0, run["data"])
    assert content["trained_with"] == run["versions"]
    assert (content["licence"], content["task"]) == ("CC0-1.0", "reverse")
    assert content["search"]["class"] == "Greedy"


def test_it_warms_up_with_the_file(exported):
    requests = (exported / "assets.extra/tf_serving_warmup_requests").read_bytes()
    assert b"abc" in requests and b"ed" in requests


def test_a_translator_without_a_run(trained, tmp_path):
    from keras_seqattn.cli.export import run_manifest

    alone = shutil.copytree(trained / "translator", tmp_path / "a/translator")
    assert run_manifest(alone, ks.Translator.load(alone)) == {}


def test_what_lies_beside_a_run_is_not_of_the_run(copied, tmp_path, monkeypatch):
    """`cd RUN; seqattn export dates OUT` exports a shipped model."""
    from keras_seqattn.cli.run_folder import find_run

    monkeypatch.chdir(copied)
    (copied / "other").mkdir()
    for path in ("dates", "other", "checkpoints", copied / "other", tmp_path / "x"):
        assert find_run(path) is None
    for path in (".", copied, "translator", "translator/", copied / "translator"):
        assert find_run(path).path.absolute() == copied
    monkeypatch.chdir(copied / "translator")
    assert find_run(".").path == copied


def test_a_model_whose_module_is_not_here(copied):
    from keras_seqattn.cli.export import run_manifest

    path = copied / "run.json"
    content = json.loads(path.read_text())
    content["settings"]["model"] = "no.such.module"
    path.write_text(json.dumps(content))
    (copied / "checkpoints/validation.json").unlink()
    found = run_manifest(
        copied / "translator", ks.Translator.load(copied / "translator")
    )
    assert found["model"] == {"function": "no.such.module"}
    assert found["metrics"] is None


def test_a_damaged_translator(copied, tmp_path, failing):
    weights = copied / "translator/model.keras"
    weights.write_bytes(weights.read_bytes()[:-1])
    said = failing("export", copied, tmp_path / "x")
    assert said.startswith(
        "Translator.load got a damaged folder. Expected model.keras with sha256 "
    )
    assert not (tmp_path / "x").exists()


def test_a_note_without_a_value(trained, tmp_path, capsys):
    assert main(["export", str(trained), str(tmp_path / "x"), "--note", "files"]) == 2
    assert capsys.readouterr().err.endswith(
        "error: argument --note: expected NAME=VALUE without spaces, received 'files'\n"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--version", "0"],
            "export got an unusable version. Expected a positive integer, received "
            "version=0. Pass a Python int, 1 or more.",
        ),
        (
            ["--note", "files=mine"],
            "export got a manifest with reserved names. Expected new names, 'metrics', "
            "and a 'model' with function and arguments, received files. Leave them "
            "out: export writes them itself.",
        ),
        (
            ["--note", "a=1", "seed=3", "--note", "data=mine"],
            "export got notes that would replace fields of the run. Expected names "
            "other than model, metrics, command, seed, data, trained_with, received "
            "seed=3 and data=mine. Choose other names.",
        ),
        (
            ["--warmup", "no-such-file"],
            "seqattn got a path without a file. Expected a text file, UTF-8, received "
            "'no-such-file'. Check the folder and the spelling.",
        ),
    ],
    ids=["version", "taken", "known", "warmup"],
)
def test_options_that_cannot_be(trained, tmp_path, failing, options, says):
    assert failing("export", trained, tmp_path / "x", *options) == says
    assert not (tmp_path / "x").exists()
