"""Randomly damaged folders load, or an error says what is wrong."""

import json
import random
import shutil
import warnings
import zipfile

import pytest

import keras_seqattn as ks
from tests.raised import check_message
from tests.translator import tiny

VALUES = [
    *(None, True, 0, 1, -1, 2**20, 2**31, 2**70, 1.5, float("nan"), float("inf")),
    *("", "\ud800", "lstm", "a" * 5000, [], [[1]], {}, {"a": 1}),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved")
    source, target = tiny.texts()
    model = tiny.model(source, target, units=4)
    shortlist = ks.decoding.Shortlist([[4, 5]] * source.vocabulary_size, range(8))
    options = {"search": tiny.BEAM, "shortlist": shortlist}
    ks.Translator(model, source, target, **options).save(path / "letters")
    text = tiny.joint().source_text
    words = ks.text.Words.learn(tiny.TARGETS)
    model = tiny.model(text, words, units=4)
    ks.Translator(model, text, words, unknown={"a": "b"}).save(path / "words")
    return path


def loads(folder):
    """Whether it loads; if not, that an error says so in four parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert isinstance(ks.Translator.load(folder), ks.Translator)
        except (ValueError, OSError) as error:
            str(error).encode()
            check_message(str(error), "")
            return False
    return True


def damage(path, draw):
    content = bytearray(path.read_bytes())
    how = draw.choice(["delete", "empty", "cut", "flip", "flip", "flip", "more"])
    if how == "delete":
        path.unlink()
        return
    if how == "flip":
        for _ in range(draw.choice([1, 1, 10])):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    elif how == "more":
        content += draw.randbytes(10)
    else:
        del content[draw.randrange(len(content)) if how == "cut" else 0 :]
    path.write_bytes(content)


def change(path, draw):
    """Puts another value into the JSON, or into that of the model."""
    if path.suffix == ".json":
        path.write_text(changed(path.read_bytes(), draw))
        return
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["config.json"] = changed(members["config.json"], draw)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)


def changed(content, draw):
    content = json.loads(content)
    places = [(content, key) for key in content]
    for holder, key in places:
        inner = holder[key]
        if isinstance(inner, (dict, list)):
            keys = inner if isinstance(inner, dict) else range(len(inner))
            places += [(inner, k) for k in keys]
    holder, key = draw.choice(places)
    other, place = draw.choice(places)
    holder[key] = draw.choice([*VALUES, other[place]])
    try:
        return json.dumps(content)
    except ValueError:  # it is in itself now
        return "[" * 100_000


@pytest.mark.parametrize("has_manifest", [True, False])
@pytest.mark.parametrize("name", ["letters", "words"])
def test_damaged_folders(request, saved, tmp_path, name, has_manifest):
    draw = random.Random(f"{name} {has_manifest}")
    rounds = 400 if request.config.getoption("--all") else 15
    for number in range(rounds):
        folder = shutil.copytree(saved / name, tmp_path / str(number))
        if not has_manifest:
            (folder / "manifest.json").unlink()
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        path = draw.choice(files)
        has_json = path.suffix in (".json", ".keras") and draw.random() < 0.7
        (change if has_json else damage)(path, draw)
        loaded = loads(folder)
        named = path.name in ("manifest.json", "text.json")
        assert not (loaded and has_manifest and not named) or path.exists()
        shutil.rmtree(folder)
