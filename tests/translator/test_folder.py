"""A translator is written as a whole, and what is read is the same translator."""

import copy
import errno
import hashlib
import json
import os
import pickle
import shutil

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.file_size import file_size_limit
from tests.raised import check_error, check_message
from tests.translator import tiny

NAME = "translator.json"
FILES = "text.json", "vocabulary.txt"
TEXTS = [f"{side}_text/{name}" for side in ("source", "target") for name in FILES]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "translator"
    tiny.letters().save(path)
    return path


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "translator")


def files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# That it translates, too: tests/export/test_new_process.py


def test_what_is_in_the_folder(saved):
    assert sorted(files(saved)) == ["manifest.json", "model.keras", *TEXTS, NAME]
    content = json.loads((saved / NAME).read_text())
    assert content["version"] == 1
    assert content["made_with"]["keras"] == keras.__version__
    assert list(saved.parent.iterdir()) == [saved]


RELATIVE = ks.decoding.RelativeLength(1.5, plus=2, at_most=9)
OPTIONS = [
    {},
    {"search": ks.Greedy(min_length=2), "max_length": 5, "max_source": 3},
    {"search": ks.decoding.Sample(0.5, top_k=2, seed=3), "max_length": RELATIVE},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_options_come_back(tmp_path, options):
    source, target = tiny.texts()
    ks.Translator(tiny.letters().model, source, target, **options).save(tmp_path / "t")
    loaded = ks.Translator.load(tmp_path / "t")
    new = ks.Translator(loaded.model, *tiny.texts(), **options).pipeline
    for name in ("search", "max_length", "max_source", "unknown"):
        assert getattr(loaded.pipeline, name) == getattr(new, name)
    assert loaded.source_text.vocabulary == source.vocabulary
    assert loaded.source_text.get_config() == source.get_config()
    assert loaded.target_text.vocabulary == target.vocabulary
    models = loaded.model, tiny.letters().model
    weights = zip(*(model.get_weights() for model in models), strict=True)
    assert all(np.array_equal(*pair) for pair in weights)


def test_a_table_of_words_comes_back(tmp_path):
    words, table = ks.text.Words.learn(["un été"]), {"été": "Sommer", "a": "b"}
    tiny.translator(words, words, unknown=table).save(tmp_path / "t")
    assert ks.Translator.load(tmp_path / "t").pipeline.unknown == table


def test_a_joint_vocabulary_is_saved_once(tmp_path):
    tiny.joint().save(tmp_path)  # into an empty folder
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"manifest.json", "model.keras", "source_text", "translator.json"}
    loaded = ks.Translator.load(tmp_path)
    assert loaded.source_text is loaded.target_text
    assert loaded.source_text.vocabulary == tiny.joint().source_text.vocabulary


def test_the_optimizer_stays_outside(saved):
    model = tiny.letters().model
    assert model.optimizer is not None
    weights = sum(w.nbytes for w in model.get_weights())
    assert (saved / "model.keras").stat().st_size < weights + 200_000


def test_an_older_translator_is_replaced_through_a_link(folder, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(folder, target_is_directory=True)
    tiny.joint().save(link)
    assert link.is_symlink() and not (folder / "target_text").exists()
    assert sorted(tmp_path.iterdir()) == [link, folder]
    assert isinstance(ks.Translator.load(folder).source_text, ks.text.SentencePiece)


def test_into_new_folders(tmp_path):
    tiny.joint().save(f"{tmp_path}/a/b/c")
    assert (tmp_path / "a/b/c/model.keras").exists()
    assert (tmp_path / "a/b/c").stat().st_mode == (tmp_path / "a/b").stat().st_mode


def fail(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "where", ["keras.Model.save", "json.dump", "shutil.rmtree", "os.chmod"]
)
def test_what_goes_wrong_leaves_the_old_one(folder, tmp_path, monkeypatch, where):
    before = files(folder)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(where, fail)
        tiny.joint().save(folder)
    if where != "shutil.rmtree":  # by then the new one is in its place
        assert files(folder) == before
        assert list(tmp_path.iterdir()) == [folder]
    ks.Translator.load(folder)


def test_when_the_new_one_cannot_take_its_place(folder, tmp_path, monkeypatch):
    before, rename, calls = files(folder), os.rename, []

    def second_fails(*paths):
        calls.append(paths)
        if len(calls) == 2:
            raise PermissionError(errno.EACCES, "no")
        rename(*paths)

    with monkeypatch.context() as patched, pytest.raises(PermissionError):
        patched.setattr("os.rename", second_fails)
        tiny.joint().save(folder)
    assert files(folder) == before and list(tmp_path.iterdir()) == [folder]


def test_a_full_disk_leaves_the_old_one(folder, tmp_path):
    before = files(folder)
    with pytest.raises(OSError) as caught, file_size_limit(2_000):
        tiny.letters().save(folder)
    assert caught.value.errno == errno.EFBIG
    assert files(folder) == before and list(tmp_path.iterdir()) == [folder]
    tiny.letters().save(folder)  # there is room again


@pytest.fixture
def older(folder):
    """As folders were before they had checksums: spoilt ones are noticed later."""
    (folder / "manifest.json").unlink()
    return folder


def load_unchecked(folder, names):
    with pytest.warns(UserWarning) as caught:
        loaded = ks.Translator.load(folder)
    [warning] = caught
    what = "Translator.load cannot check whether files are damaged"
    received = f"received none of {names} in {str(folder)!r}"
    check_message(str(warning.message), what, received, "save the translator again")
    assert warning.filename == __file__
    return loaded


UNCHECKED = "ignore:Translator.load cannot check:UserWarning"
unchecked = pytest.mark.filterwarnings(UNCHECKED)


def test_a_folder_without_checksums_is_loaded(older):
    loaded = load_unchecked(older, [NAME, "model.keras", *TEXTS])
    assert loaded.source_text.vocabulary_size == 15


@pytest.mark.parametrize("name", ["model.keras", "target_text/vocabulary.txt"])
def test_a_file_that_the_manifest_does_not_name(folder, name):
    content = json.loads((folder / "manifest.json").read_text())
    del content["files"][name]
    (folder / "manifest.json").write_text(json.dumps(content))
    load_unchecked(folder, [name])
    if name == "model.keras":  # its own checksums are looked at
        model = bytearray((folder / name).read_bytes())
        model[len(model) // 2] ^= 1
        (folder / name).write_bytes(model)
        with pytest.warns(UserWarning), pytest.raises(ValueError, match="cannot load"):
            ks.Translator.load(folder)


@pytest.mark.parametrize("name", ["model.keras", NAME, "target_text/vocabulary.txt"])
def test_a_changed_file_is_refused(folder, name):
    """Its last byte is lost, or is another."""
    before = (folder / name).read_bytes()
    for spoilt in (before[:-1], before[:-1] + b"?"):
        (folder / name).write_bytes(spoilt)
        expected = f"{name} with sha256 {hashlib.sha256(before).hexdigest()}"
        check_load(folder, "Translator.load got a damaged folder", expected, "content")


def check_load(folder, what, *parts):
    check_error(lambda: ks.Translator.load(folder), what, *parts)


def check_held(path):
    what = "Translator.save got a path that holds something else"
    expected = f"nothing but an older translator, received {str(path)!r}"
    check_error(lambda: tiny.joint().save(path), what, "an empty folder, or", expected)


@pytest.mark.parametrize("spoil", ["another file", "only another file", "no json"])
def test_a_folder_that_holds_something_else(folder, spoil):
    if spoil != "no json":
        (folder / "notes.txt").write_text("mine")
    if spoil != "another file":
        (folder / NAME).unlink()
    before = files(folder)
    check_held(folder)
    assert files(folder) == before


def test_a_path_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    check_held(path)
    assert path.read_text() == "mine"


COPIES = [lambda translator: pickle.loads(pickle.dumps(translator)), copy.deepcopy]


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "deepcopy"])
def test_pickles_and_copies_are_folders(copied):
    again, whole = copied(tiny.letters()), tiny.letters()
    assert again.translate(tiny.SOURCES).texts == whole.translate(tiny.SOURCES).texts
    assert again.model is not whole.model and again.search == whole.search


def test_an_ensemble_cannot_be_saved(tmp_path):
    model = tiny.letters().model
    translator = ks.Translator(ks.decoding.Ensemble([model, model]), *tiny.texts())
    what = "Translator cannot save this model"
    check_error(lambda: translator.save(tmp_path / "t"), what, "received Ensemble")
    assert not list(tmp_path.iterdir())


NOT_FOUND = {
    "missing": "missing'. Pass a folder of Translator.save",
    "": "', which has no translator. Pass a folder",
    "notes.txt": "notes.txt', which is a file. Pass the folder that holds all",
    "run": "run', which is a run. Pass '{}/run/translator'",
    "exported": "exported', which is a SavedModel. Load it with tf.saved_model.load",
}


@pytest.mark.parametrize("name, remedy", NOT_FOUND.items())
def test_no_translator(tmp_path, name, remedy):
    (tmp_path / "notes.txt").write_text("mine")
    for file in ("run/translator/translator.json", "exported/saved_model.pb"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()
    models = "the name of a shipped model (dates, g2p, numbers-en-de)"
    what = "Translator.load found no translator"
    check_load(f"{tmp_path}/{name}", what, models, remedy.format(tmp_path))


def test_the_nearest_shipped_model_is_named():
    what = "Translator.load found no translator"
    check_load("date", what, "received 'date'. Use 'dates', the nearest name.")
    check_load(None, "Translator.load got an unusable path", "received None. Pass a")


def write(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def without_search(folder):
    content = json.loads((folder / NAME).read_text())
    del content["search"]
    (folder / NAME).write_text(json.dumps(content))


def without_model(folder):
    (folder / "model.keras").unlink()


JSONS = [b'{"version": 1', b"\xff\xfe", b"[1]", b""]
SPOILED = [
    *[(write(NAME, x), "load cannot read {}/translator.json", "JSON") for x in JSONS],
    (write(NAME, b'{"version": 2}'), "load cannot read this version", "received 2 in"),
    (write(NAME, b'{"version": "1"}'), "load cannot read this ver", "received '1' in"),
    (write(NAME, b"{}"), "load cannot read this version", "1, received None in"),
    (without_search, "load found too few options in {}/translator.json", "['search']"),
    (write("model.keras", b"PK"), "load cannot load {}/model.keras", "unsafe file ("),
    (without_model, "load cannot load {}/model.keras", "no such file. Copy the folder"),
]


@unchecked
@pytest.mark.parametrize("spoil, what, part", SPOILED)
def test_a_spoiled_file(older, spoil, what, part):
    spoil(older)
    check_load(older, f"Translator.{what.format(older)}", part)


@unchecked
def test_a_vocabulary_that_does_not_fit_and_a_missing_text_processor(older):
    """As when folders of two translators were mixed."""
    tiny.texts()[1].save(older / "source_text")
    check_load(older, "Translator got a source_text that does not fit", "of 15 tokens")
    (older / "source_text").rename(older / "elsewhere")
    check_load(older, "TextProcessor.load did not find a file", "source_text")
