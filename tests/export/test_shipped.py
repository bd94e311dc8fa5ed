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
SCORES = 1e-3  # other processors round in other ways


def golden(name):
    return json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))


def test_their_sizes():
    assert tuple(shipped_folders()) == NAMES
    sizes = [
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        for folder in shipped_folders().values()
    ]
    assert max(sizes) <= 3e6 and sum(sizes) <= 10e6


@pytest.mark.parametrize("name", NAMES)
def test_manifests_and_cards(name):
    folder = shipped_folders()[name]
    content = manifest.verify(folder)
    card = (folder / "README.md").read_text(encoding="utf-8")
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in paths}
    assert names == {*content["files"], manifest.NAME}
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


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["translate", "--model", "dates", "third of May 2027", "1.5.1999"]) == 0
    assert capsys.readouterr().out.splitlines() == ["2027-05-03", "1999-05-01"]
