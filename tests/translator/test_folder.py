"""A translator is written as a whole, and what is read is the same translator."""

import errno
import hashlib
import json
import os
import shutil

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.file_size import file_size_limit
from tests.translator import tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "translator"
    tiny.letters().save(path)
    return path


@pytest.fixture
def folder(saved, tmp_path):
    """A copy that may be spoiled."""
    return shutil.copytree(saved, tmp_path / "translator")


def files(folder):
    """Its files with what is in them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# There and back (translating, too: tests/export/test_new_process.py) ----------------


def test_what_is_in_the_folder(saved):
    assert sorted(files(saved)) == [
        "manifest.json",
        "model.keras",
        *[f"source_text/{name}" for name in ("text.json", "vocabulary.txt")],
        *[f"target_text/{name}" for name in ("text.json", "vocabulary.txt")],
        "translator.json",
    ]
    content = json.loads((saved / "translator.json").read_text())
    assert content["version"] == 1
    assert content["made_with"]["keras"] == keras.__version__
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"search": ks.Greedy(min_length=2), "max_length": 5, "max_source": 3},
        {
            "search": ks.decoding.Sample(0.5, top_k=2, seed=3),
            "max_length": ks.decoding.RelativeLength(1.5, plus=2, at_most=9),
        },
    ],
)
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
    weights = zip(
        loaded.model.get_weights(), tiny.letters().model.get_weights(), strict=True
    )
    assert all(np.array_equal(*pair) for pair in weights)


def test_a_table_of_words_comes_back(tmp_path):
    words, table = ks.text.Words.learn(["un été"]), {"été": "Sommer", "a": "b"}
    tiny.translator(words, words, unknown=table).save(tmp_path / "t")
    assert ks.Translator.load(tmp_path / "t").pipeline.unknown == table


def test_a_joint_vocabulary_is_saved_once(tmp_path):
    tiny.joint().save(tmp_path)  # into an empty folder
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "manifest.json",
        "model.keras",
        "source_text",
        "translator.json",
    ]
    loaded = ks.Translator.load(tmp_path)
    assert loaded.source_text is loaded.target_text
    assert loaded.source_text.vocabulary == tiny.joint().source_text.vocabulary


def test_the_optimizer_stays_outside(saved):
    model = tiny.letters().model
    assert model.optimizer is not None
    weights = sum(w.nbytes for w in model.get_weights())
    assert (saved / "model.keras").stat().st_size < weights + 200_000


# Overwriting --------------------------------------------------------------------------


def test_an_older_translator_is_replaced(folder, tmp_path):
    tiny.joint().save(folder)
    assert not (folder / "target_text").exists()
    loaded = ks.Translator.load(folder)
    assert isinstance(loaded.source_text, ks.text.SentencePiece)
    assert list(tmp_path.iterdir()) == [folder]


def test_through_a_link(folder, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(folder, target_is_directory=True)
    tiny.joint().save(link)
    assert link.is_symlink() and not (folder / "target_text").exists()
    assert sorted(tmp_path.iterdir()) == [link, folder]


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


# Checksums ----------------------------------------------------------------------------


def checksum(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def older(folder):
    """As folders were before they had checksums: spoilt ones are noticed later."""
    (folder / "manifest.json").unlink()
    return folder


def load_unchecked(folder, names):
    with pytest.warns(UserWarning) as caught:
        loaded = ks.Translator.load(folder)
    assert [str(warning.message) for warning in caught] == [
        UNCHECKED.format(names, str(folder))
    ]
    assert caught[0].filename == __file__
    return loaded


UNCHECKED = (
    "Translator.load cannot check whether files are damaged. Expected their checksums "
    "in manifest.json, received none of {} in {!r}. Copy the folder again; if an older "
    "release has written it, save the translator again."
)
unchecked = pytest.mark.filterwarnings(
    "ignore:Translator.load cannot check:UserWarning"
)


def test_a_folder_without_checksums_is_loaded(older):
    texts = [f"{side}_text/{n}" for side in ("source", "target") for n in TEXT]
    loaded = load_unchecked(older, ["translator.json", "model.keras", *texts])
    assert loaded.source_text.vocabulary_size == 15


TEXT = ["text.json", "vocabulary.txt"]


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


@pytest.mark.parametrize(
    "name", ["model.keras", "translator.json", "target_text/vocabulary.txt"]
)
def test_a_file_that_is_not_what_was_saved(folder, name):
    """Its last byte is lost, or is another."""
    before = (folder / name).read_bytes()
    for spoilt in (before[:-1], before[:-1] + b"?"):
        (folder / name).write_bytes(spoilt)
        says(
            f"Translator.load got a damaged folder. Expected {name} with sha256 "
            f"{checksum(before)}, as its manifest.json says, received another content "
            f"in {str(folder)!r}. Copy the folder again; if you have changed the file "
            "yourself, write its new checksum into the manifest.",
            lambda: ks.Translator.load(folder),
        )


# Errors -------------------------------------------------------------------------------


def says(text, call):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text


HELD = (
    "Translator.save got a path that holds something else. Expected a free one, an "
    "empty folder, or nothing but an older translator, received {!r}. Choose another."
)


@pytest.mark.parametrize("spoil", ["another file", "only another file", "no json"])
def test_a_folder_that_holds_something_else(folder, spoil):
    if spoil != "no json":
        (folder / "notes.txt").write_text("mine")
    if spoil != "another file":
        (folder / "translator.json").unlink()
    before = files(folder)
    says(HELD.format(str(folder)), lambda: tiny.joint().save(folder))
    assert files(folder) == before


def test_a_path_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    says(HELD.format(str(path)), lambda: tiny.joint().save(path))
    assert path.read_text() == "mine"


def test_an_ensemble_cannot_be_saved(tmp_path):
    model = tiny.letters().model
    translator = ks.Translator(ks.decoding.Ensemble([model, model]), *tiny.texts())
    says(
        "Translator cannot save this model. Expected a Keras model, e.g. Seq2Seq, "
        "received Ensemble. Save the models of an ensemble one by one, or export the "
        "translator.",
        lambda: translator.save(tmp_path / "t"),
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["missing", "", "notes.txt"])
def test_no_translator(tmp_path, name):
    (tmp_path / "notes.txt").write_text("mine")
    path = f"{tmp_path}/{name}"
    says(
        "Translator.load found no translator. Expected a folder with translator.json, "
        "model.keras and source_text/, or the name of a shipped model (dates, g2p, "
        f"numbers-en-de), received {path!r}. Pass a folder of Translator.save.",
        lambda: ks.Translator.load(path),
    )


@pytest.mark.parametrize("content", [b'{"version": 1', b"\xff\xfe", b"[1]", b""])
def test_a_damaged_json(older, content):
    (older / "translator.json").write_bytes(content)
    says(
        f"Translator.load cannot read {older}/translator.json. Expected JSON, received "
        "a damaged file. Copy the folder again, or save the translator again.",
        lambda: ks.Translator.load(older),
    )


@pytest.mark.parametrize("version", [2, None, "1"])
def test_another_version(older, version):
    (older / "translator.json").write_text(json.dumps({"version": version}))
    says(
        "Translator.load cannot read this version of the format. Expected version 1, "
        f"received {version!r} in {str(older)!r}. Load it with the release of "
        "keras_seqattn that has saved it.",
        lambda: ks.Translator.load(older),
    )


@unchecked
def test_a_vocabulary_that_does_not_fit(older):
    """As when folders of two translators were mixed."""
    tiny.texts()[1].save(older / "source_text")
    says(
        "Translator got a source_text that does not fit the model. Expected a "
        "vocabulary of 15 tokens, as many as the model embeds, received Characters "
        "with 8. Pass the processor with which the model was trained, or build the "
        "model with source_vocabulary=8.",
        lambda: ks.Translator.load(older),
    )


@unchecked
@pytest.mark.parametrize("name", ["model.keras", "source_text"])
def test_a_part_is_missing(older, name):
    (older / name).rename(older / "elsewhere")
    with pytest.raises((ValueError, FileNotFoundError), match=name):
        ks.Translator.load(older)


def test_a_json_without_the_search(older):
    content = json.loads((older / "translator.json").read_text())
    del content["search"]
    (older / "translator.json").write_text(json.dumps(content))
    says(
        f"Translator.load found too few options in {older}/translator.json. Expected "
        "['max_length', 'max_source', 'search', 'unknown'], received a file without "
        "['search']. Copy the folder again, or save the translator again.",
        lambda: ks.Translator.load(older),
    )


@unchecked
@pytest.mark.parametrize("state", ["no such file.", "a damaged or unsafe file ("])
def test_no_model(older, state):
    (older / "model.keras").unlink()
    if "no such" not in state:
        (older / "model.keras").write_bytes(b"PK")
    with pytest.raises(ValueError) as caught:
        ks.Translator.load(older)
    text = str(caught.value)
    assert text.startswith(
        f"Translator.load cannot load {older}/model.keras. Expected a Keras model "
        f"whose classes are all known, received {state}"
    )
    assert text.endswith("Copy the folder again; import your own classes first.")
