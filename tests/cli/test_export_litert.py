"""`seqattn export --litert`: one file, the same texts; what it cannot take."""

import pytest

import keras_seqattn as ks
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.translator.translator import Translator
from seqattn_command import main
from tests.translator import tiny

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
    """A translator without a run, from words to words."""
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
    """What would be exported, and how."""
    found = {}

    def export_litert(translator, path, **how):
        found.update(search=translator.search, **how)
        with open(path, "wb") as file:
            file.write(b"content")

    monkeypatch.setattr(Translator, "export_litert", export_litert)
    return found


def test_usual_options(saved, tmp_path, asked):
    assert export(saved, tmp_path / "x") == 0
    sizes = {"source_length": 6, "target_length": 22, "batch": 1}
    assert asked == {"search": tiny.BEAM, **sizes, "weights": "float32"}


def test_all_options(saved, tmp_path, asked):
    options = "--batch 3 --weights int8 --beam 4 --length-penalty 0.5".split()
    assert export(saved, tmp_path / "x", *options) == 0
    search = ks.BeamSearch(4, length_penalty=0.5, n_best=2)  # of which 2 is its own
    sizes = {"source_length": 6, "target_length": 22, "batch": 3}
    assert asked == {"search": search, **sizes, "weights": "int8"}


ALL = ["--litert", *LENGTHS]
CASES = {
    "no length": (
        ["--litert"],
        "export lacks a length. Expected --source-length and --target-length with "
        "--litert, because all shapes of a LiteRT file are fixed, received neither. "
        "Add the number of tokens of the longest text, plus one for its end.",
    ),
    "one length": (
        ["--litert", "--target-length", "5"],
        "export lacks a length. Expected --source-length and --target-length with "
        "--litert, because all shapes of a LiteRT file are fixed, received "
        "--target-length only. Add the number of tokens of the longest text, plus one "
        "for its end.",
    ),
    "options of a SavedModel": (
        [*ALL, "--note", "a=1", "--version", "0", "--warmup", "no-such-file"],
        "export got options of a SavedModel for LiteRT. Expected --version, --warmup "
        "and --note without --litert only, received --version, --warmup, --note with "
        "it. Leave them out: a LiteRT file has neither versions, nor requests, nor "
        "notes.",
    ),
    "options of LiteRT": (
        ["--source-length", "0", "--batch", "1"],
        "export got options of LiteRT for a SavedModel. Expected --source-length, "
        "--target-length and --batch with --litert only, received --source-length, "
        "--batch without it. Add --litert, or leave them out: a SavedModel takes any "
        "number of texts of any length.",
    ),
    "weights of a SavedModel": (
        [*ALL, "--weights", "bfloat16"],
        "export got weights that it cannot write as LiteRT. Expected one of float32, "
        "float16, int8, received --weights bfloat16. Write --weights float16, which is "
        "as small.",
    ),
    "weights of LiteRT": (
        ["--weights", "float16"],
        "export got weights that it cannot write as SavedModel. Expected one of "
        "float32, bfloat16, int8, received --weights float16. Write --weights "
        "bfloat16, which is as small.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_options_of_the_other_form(failing, tmp_path, name):
    """Said before anything is loaded, so nobody minds that there is no run."""
    options, said = CASES[name]
    assert failing("export", "no-such-run", tmp_path / "x", *options) == said
    assert not list(tmp_path.iterdir())


def test_a_folder(failing, tmp_path):
    assert failing("export", "no-such-run", f"{tmp_path}/", *ALL) == (
        "export got a folder for a LiteRT file. Expected the path of a file, received "
        f"'{tmp_path}/', a folder. Choose another path, e.g. {tmp_path}.tflite."
    )


def test_what_litert_cannot_do(failing, saved, tmp_path):
    options = ["--litert", "--source-length", "1", "--target-length", "5"]
    assert failing("export", saved, tmp_path / "x", *options) == (
        "export_litert got an unusable source_length. Expected an integer, 2 "
        "or more, received source_length=1. Pass a Python int, 2 or more."
    )
    assert not (tmp_path / "x").exists()


def test_it_is_neither_served_nor_a_translator(failing, tmp_path):
    path = tmp_path / "x.tflite"
    path.write_bytes(b"content")
    assert failing("serve", path) == (
        "serve found no exported model. Expected a folder of seqattn export, or "
        f"a folder with version folders 1, 2, ..., received {str(path)!r}, a "
        "file. Check the path, or run seqattn export without --litert, whose files are "
        "for devices."
    )
    said = failing("inspect", path)
    assert said.startswith("seqattn found no translator. ") and str(path) in said
