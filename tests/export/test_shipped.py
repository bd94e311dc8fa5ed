"""The shipped models: what they answered when they were made, they answer for ever."""

import json
from pathlib import Path

import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  its operations are in the SavedModels

import keras_seqattn as ks
from keras_seqattn import manifest
from keras_seqattn.serving import versions
from keras_seqattn.shipped_models import resolve_path, shipped_folders
from seqattn_command import main

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "tests/goldens/shipped"
NAMES = ("dates", "g2p", "numbers-en-de")
MEGABYTE = 1e6
SCORES = 1e-3  # other processors round in other ways


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def golden(name):
    return json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))


def test_they_are_there_and_small():
    sizes = {name: size(folder) for name, folder in shipped_folders().items()}
    assert tuple(sizes) == NAMES
    assert max(sizes.values()) <= 3 * MEGABYTE
    assert sum(sizes.values()) <= 10 * MEGABYTE


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_them(name):
    folder = shipped_folders()[name]
    content = manifest.verify(folder)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert {f"{name}/{path}" for path in content["files"]} | {
        f"{name}/{manifest.NAME}"
    } == {
        path.relative_to(folder.parent).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert content["command"].startswith("seqattn train --task ")
    assert content["command"] in card
    assert {"licence", "data", "seed", "trained_with", "model"} <= content.keys()
    for values in content["test"].values():
        assert all(f"{value:.2f}" in card for value in values.values())


@pytest.mark.parametrize("name", NAMES)
def test_translator(name):
    expected = golden(name)
    found = ks.Translator.load(name)(expected["texts"])
    assert found.texts == expected["translator"]["texts"]
    assert found.scores == pytest.approx(expected["translator"]["scores"], abs=SCORES)


@pytest.mark.parametrize("name", NAMES)
def test_saved_model(name):
    expected = golden(name)
    [folder] = versions.find_versions(name).values()
    model = tf.saved_model.load(str(folder)).signatures["serving_default"]
    found = model(tf.constant(expected["texts"]))
    texts = [text.decode() for text in found["text"].numpy()]
    assert texts == expected["saved_model"]["texts"]
    scores = found["score"].numpy().tolist()
    assert scores == pytest.approx(expected["saved_model"]["scores"], abs=SCORES)


def test_a_folder_of_ones_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_path("dates") == ROOT / "saved_models/dates"
    (tmp_path / "dates").mkdir()
    assert resolve_path("dates") == "dates"
    assert resolve_path("dotes") == "dotes"


def test_an_unknown_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as error:
        ks.Translator.load("dotes")
    assert str(error.value) == (
        "Translator.load found no translator. Expected a folder with translator.json, "
        "model.keras and source_text/, or the name of a shipped model (dates, g2p, "
        "numbers-en-de), received 'dotes'. Pass a folder of Translator.save."
    )


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["translate", "--model", "dates", "third of May 2027", "1.5.1999"]) == 0
    assert capsys.readouterr().out.splitlines() == ["2027-05-03", "1999-05-01"]
    (tmp_path / "input").write_text("24 cze 1695\n")
    assert main(["translate", "dates", "input"]) == 0
    assert capsys.readouterr().out == "1695-06-24\n"


@pytest.mark.parametrize(
    "given, said",
    [
        (
            [],
            "seqattn: error: translate got no translator. Expected "
            "RUN, or RUN and one FILE; or --model NAME and texts, received neither RUN "
            "nor --model. Name the folder of a run first, or write --model NAME before "
            "texts.",
        ),
        (
            ["dates", "third of", "May"],
            "seqattn: error: translate got too many files. Expected RUN, or RUN and "
            "one FILE; or --model NAME and texts, received 'dates' 'third of' 'May'. "
            "Name the folder of a run first, or write --model NAME before texts.",
        ),
        (
            ["--model", "dotes", "third of May"],
            "seqattn: error: seqattn found no translator. Expected the folder of a run "
            "of seqattn train, one written by Translator.save, or the name of a "
            "shipped model (dates, g2p, numbers-en-de), received 'dotes', which does "
            "not exist. Check the path; a run has a translator after its first "
            "validation.",
        ),
    ],
)
def test_what_the_command_cannot_do(given, said, capsys):
    assert main(["translate", *given]) == 2
    assert capsys.readouterr().err.strip() == said
