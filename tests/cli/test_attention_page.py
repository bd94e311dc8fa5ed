"""`seqattn inspect --html`."""

import json
import re
import shutil

import pytest

from seqattn_command import main


def pictures_in(file):
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    return json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL)[1])


def test_sentences_of_the_validation_set(trained, tmp_path, capsys):
    file = tmp_path / "page.html"
    assert main(["inspect", str(trained), "--html", str(file), "--count", "3"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith(f"{file} shows 3 sentences; open it with a browser.\n")
    pictures = pictures_in(file)
    assert len(pictures) == 3
    kinds = [hypothesis["kind"] for hypothesis in pictures[0]["hypotheses"]]
    assert kinds == ["free", "free", "forced"]  # all of a beam of 2, and the reference
    assert pictures[0]["reference"] == pictures[0]["source"]["text"][::-1]
    assert "bleu" in pictures[0]["metrics"]


def test_sentences_that_are_given(trained, tmp_path):
    alone = shutil.copytree(trained / "translator", tmp_path / "translator")
    file = tmp_path / "page.html"
    texts = ["--text", "abc", "--text", "e", "--beam", "1"]
    assert main(["inspect", str(alone), "--html", str(file), *texts]) == 0
    pictures = pictures_in(file)
    assert [picture["source"]["text"] for picture in pictures] == ["abc", "e"]
    assert [len(picture["hypotheses"]) for picture in pictures] == [1, 1]
    assert pictures[0]["reference"] is None


def test_a_translator_alone_has_no_sentences(trained, tmp_path, failing):
    alone = shutil.copytree(trained / "translator", tmp_path / "translator")
    assert failing("inspect", alone, "--html", tmp_path / "page.html") == (
        "inspect got no sentences for its page. Expected --text TEXT, or a run, which "
        f"has a validation set, received '{alone}', a translator alone. Add one "
        "or more sentences with --text."
    )


def test_a_path_that_cannot_be_written(trained, tmp_path, failing):
    assert failing("inspect", trained, "--html", tmp_path) == (
        "seqattn got an output that it cannot write. Expected a file in a folder that "
        f"exists, received --html {tmp_path}, a folder. Choose another path."
    )


@pytest.mark.parametrize(
    ("options", "received", "remedy"),
    [
        (["--text", "a"], "--text without", "Add --html"),
        (["--count", "2"], "--count without", "Add --html"),
        (["--beam", "2"], "--beam without", "Add --html"),
        (["--length-penalty", "1"], "--length-penalty without", "Add --html"),
        (
            ["--html", "x", "--text", "a", "--count", "2"],
            "--text and --count",
            "Choose one of them",
        ),
        (["--html", "x", "--count", "0"], "--count 0", "Count from 1"),
    ],
)
def test_options_that_nothing_would_use(trained, failing, options, received, remedy):
    assert failing("inspect", trained, *options) == (
        "inspect got options that do not go together. Expected --html FILE, with "
        f"--text TEXT (once or more) or --count N, 1 or more, received {received}. "
        f"{remedy}."
    )
