"""`seqattn translate`: files, standard input, conversation; what it prints."""

import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import translate as translate_command
from keras_seqattn.cli.load_translator import load_translator
from seqattn_command import main

TEXTS = ["abc", "", "edcb"]
RULES = {"min_length": 2, "forbidden_tokens": (5,), "no_repeat_ngram": 3}


def beam(width, length_penalty, n_best=1):
    """One with all that a search may have."""
    how = {"coverage_penalty": 0.2, "use_early_stop": False, "n_best": n_best}
    return ks.BeamSearch(width, length_penalty, **how, **RULES)


OWN = beam(2, 0.7)


class Capitals:
    """Translates in no time: into capital letters, and second best from behind."""

    def translate(self, texts, batch_size, progress, first):
        progress(len(texts))
        return [self(text) for text in texts]

    def __call__(self, text):
        other = self.hypothesis(text, text.upper()[::-1], -2.5)
        return self.hypothesis(text, text.upper(), -0.5, (other,))

    def hypothesis(self, text, translation, score, alternatives=()):
        tokens = [ks.translator.Token(c, i, i + 1) for i, c in enumerate(text)]
        return ks.translator.Translation(
            *(text, translation, score, score, tokens, list(translation)),
            np.eye(len(text)),
            alternatives,
        )


@pytest.fixture
def asked(monkeypatch):
    """The command loads this one; what it asked for."""
    found = []

    def load(*how):
        found.extend(how)
        return Capitals()

    monkeypatch.setattr(translate_command, "load_translator", load)
    return found


def typed(monkeypatch, content):
    stdin = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)


def test_real_translator(trained, files, capsys):
    [path] = files(texts=["abc", "", "abcde" * 2_000])
    assert main(["translate", str(trained), str(path), "--beam", "1"]) == 0
    printed = capsys.readouterr()
    texts = printed.out.splitlines()
    assert len(texts) == 3 and texts[1] == "" and set(texts[0]) <= set("abcde⁇")
    assert printed.err.startswith(
        "seqattn: warning: Translator has read only the beginning of 1 texts. Expected "
        "at most max_source=1000 tokens, received longer texts at number 2 (from 0). "
    )


@pytest.mark.parametrize(
    "own, options, search",
    [
        (OWN, (), OWN),
        (OWN, (None, 1), OWN),
        (OWN, (1,), ks.Greedy(**RULES)),
        (OWN, (4,), beam(4, 0.7)),
        (OWN, (None, 4), beam(4, 0.7, 4)),
        (OWN, (None, None, 0.5), beam(2, 0.5)),
        (OWN, (3, 2, 0.5), beam(3, 0.5, 2)),
        (beam(4, 0.7, 3), (5,), beam(5, 0.7, 3)),
        (beam(4, 0.7, 3), (2,), beam(2, 0.7, 2)),
        (beam(4, 0.7, 3), (None, 1), beam(4, 0.7, 1)),
        (ks.Greedy(**RULES), (None, 1), ks.Greedy(**RULES)),
        (ks.Greedy(**RULES), (3,), ks.BeamSearch(3, **RULES)),
        (
            ks.decoding.Sample(**RULES),
            (None, 3),
            ks.BeamSearch(3, n_best=3, **RULES),
        ),
        (
            ks.decoding.Sample(**RULES),
            (3, None, 0.5),
            ks.BeamSearch(3, 0.5, **RULES),
        ),
    ],
)
def test_search(trained, monkeypatch, own, options, search):
    """What was not asked for is as the translator has it."""
    searching(own, monkeypatch)
    assert load_translator(trained, *options).search == search


@pytest.mark.parametrize(
    "own, options, received",
    [
        (OWN, ["--beam", "1"], "--beam 1"),
        (
            ks.Greedy(),
            [],
            "the translator's own Greedy(min_length=0, forbidden_tokens=(), "
            "no_repeat_ngram=0)",
        ),
    ],
    ids=["beam", "own"],
)
def test_length_penalty_that_nothing_would_use(
    failing, trained, files, monkeypatch, own, options, received
):
    searching(own, monkeypatch)
    [path] = files(texts=TEXTS)
    options = [*options, "--length-penalty", "0.5"]
    assert failing("translate", trained, path, *options) == (
        "seqattn got a length penalty that has no effect. Expected "
        "--length-penalty with a beam of 2 or more, received --length-penalty 0.5 and "
        f"{received}. Leave it out, or add e.g. --beam 5."
    )


def searching(own, monkeypatch):
    """What is loaded searches in this way."""
    found = SimpleNamespace(search=own)
    found.with_search = lambda search: SimpleNamespace(search=search)
    monkeypatch.setattr(ks.Translator, "load", lambda path: found)


def test_file(asked, files, capsys):
    [path] = files(texts=TEXTS)
    assert main(["translate", "run", str(path), "--beam", "3"]) == 0
    assert capsys.readouterr().out == "ABC\n\nEDCB\n"
    assert asked == ["run", 3, None, None]


def test_standard_input_to_a_file(asked, monkeypatch, tmp_path, capsys):
    typed(monkeypatch, b"\xef\xbb\xbfabc\r\n\nedcb")  # no line feed at the end
    assert main(["translate", "run", "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text() == "ABC\n\nEDCB\n"
    assert capsys.readouterr().out == ""


def test_n_best(asked, files, capsys):
    [path] = files(texts=["abc", "b"])
    assert main(["translate", "run", str(path), "--n-best", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1\t-0.5000\tABC",
        "1\t-2.5000\tCBA",
        "2\t-0.5000\tB",
        "2\t-2.5000\tB",
    ]


def test_json(asked, files, capsys):
    [path] = files(texts=["ab"])
    assert main(["translate", "run", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    alternatives = said.pop("alternatives")
    assert said == {
        "source": "ab",
        "text": "AB",
        "score": -0.5,
        "ranking": -0.5,
        "source_tokens": [["a", 0, 1], ["b", 1, 2]],
        "target_tokens": ["A", "B"],
        "alignment": [[1.0, 0.0], [0.0, 1.0]],
    }
    assert [other["text"] for other in alternatives] == ["BA"]


def test_alignments(asked, files, capsys):
    [path] = files(texts=["ab"])
    assert main(["translate", "run", str(path), "--alignments"]) == 0
    assert capsys.readouterr().out.startswith("AB  (-0.50)\n  ab\nA│█ │\nB│ █│\n")


def test_conversation(asked, monkeypatch, capsys):
    lines = iter(["abc", "edcb"])

    def answer(prompt):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert main(["translate", "run"]) == 0
    assert capsys.readouterr().out == "ABC\nEDCB\n"


# Bad output ---------------------------------------------------------------------------


def test_what_is_typed_goes_to_no_file(failing, asked, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    out = tmp_path / "out"
    assert failing("translate", "run", "--output", out) == (
        "translate got an output file for typed lines. Expected --output with a FILE "
        f"of texts, or with texts from a pipe, received --output {out} and a terminal. "
        "Name a file to translate, or leave --output out."
    )
    assert asked == [] and not out.exists()


@pytest.mark.parametrize(
    "name, why",
    [
        ("", "a folder"),
        ("no/out", "in a folder that does not exist"),
        ("old", "which you may not write to"),
        ("new", "which you may not write to"),
    ],
)
def test_output_is_checked_before_the_work(
    failing, asked, files, tmp_path, monkeypatch, name, why
):
    files(old=["mine"])
    out = tmp_path / name
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert failing("translate", "run", tmp_path / "nowhere", "--output", out) == (
        "seqattn got an output that it cannot write. Expected a file in a folder that "
        f"exists, received --output {out}, {why}. Choose another path."
    )
    assert asked == []


def test_an_old_output_stays_until_there_is_a_new_one(failing, files):
    [out] = files(old=["mine"])
    assert failing("translate", "no run", out, "--output", out)
    assert out.read_text() == "mine\n"


# Bad input ----------------------------------------------------------------------------


def test_missing_file(failing, trained, tmp_path):
    assert failing("translate", trained, tmp_path / "nowhere") == (
        "seqattn got a path without a file. Expected a text file, UTF-8, received "
        f"'{tmp_path}/nowhere'. Check the folder and the spelling."
    )


def test_not_utf_8(failing, trained, files):
    [path] = files(texts=b"abc\n\xffab\nde\n\xfe\n")
    assert failing("translate", trained, path) == (
        "seqattn got a text that is not UTF-8. Expected UTF-8, received other bytes in "
        f"line 2 of '{path}' and in 1 more. Convert the file, or leave such lines "
        "empty with --encoding-errors skip."
    )


def test_not_utf_8_is_skipped(asked, files, capsys):
    [path] = files(texts=b"abc\n\xffab\nedcb\n")
    assert main(["translate", "run", str(path), "--encoding-errors", "skip"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "ABC\n\nEDCB\n"
    assert "1 lines are not UTF-8 and stay empty: 2\n" in printed.err


def test_no_translator(failing, files, tmp_path):
    [path] = files(texts=TEXTS)
    assert failing("translate", tmp_path, path) == (
        "seqattn found no translator. Expected the folder of a run of seqattn train, "
        "one written by Translator.save, or the name of a shipped model (dates, g2p, "
        f"numbers-en-de), received '{tmp_path}', a path without translator.json. "
        "Check the path; a run has a translator after its first validation."
    )


def test_run_without_a_translator_yet(failing, files, tmp_path):
    path, _ = files(**{"texts": TEXTS, "run.json": "{}"})
    said = failing("translate", tmp_path, path)
    assert f"received '{tmp_path}', a run without one yet." in said


def test_some_lines_at_a_time(asked, files, monkeypatch):
    """What is done is written: the third chunk fails."""
    started = []

    def translate(self, texts, batch_size, progress, first):
        started.append(first)
        if first == 4:
            raise RuntimeError("enough")
        return [self(text) for text in texts]

    written = io.StringIO()
    monkeypatch.setattr(Capitals, "translate", translate)
    monkeypatch.setattr(translate_command, "_CHUNK", 2)
    monkeypatch.setattr(sys, "stdout", written)
    [path] = files(texts=list("abcdef"))
    with pytest.raises(RuntimeError, match="enough"):
        main(["translate", "run", str(path), "--n-best", "2"])
    assert started == [0, 2, 4]
    numbers = [line.split("\t")[0] for line in written.getvalue().splitlines()]
    assert numbers == list("11223344")


def test_an_old_output_stays_where_nothing_is_translated(asked, files, monkeypatch):
    def fails(self, *arguments, **options):
        raise RuntimeError("enough")

    monkeypatch.setattr(Capitals, "translate", fails)
    texts, old = files(texts=["a"], old=["what was there"])
    with pytest.raises(RuntimeError, match="enough"):
        main(["translate", "run", str(texts), "--output", str(old)])
    assert old.read_text() == "what was there\n"
