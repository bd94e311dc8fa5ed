"""`seqattn translate`: files, standard input, conversation; what it prints."""

import gzip
import io
import json
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.cli import translate as translate_command
from keras_seqattn.cli.load_translator import load_translator
from seqattn_command import main

TEXTS = ["abc", "", "edcb"]
RULES = {"min_length": 2, "forbidden_tokens": (5,), "no_repeat_ngram": 3}


def beam(width, length_penalty, n_best=1):
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
        known = text, translation, score, score, tokens, list(translation)
        return ks.translator.Translation(*known, np.eye(len(text)), alternatives)


@pytest.fixture
def asked(monkeypatch):
    """The command loads this one; what it asked for."""
    found, load = [], lambda *how: found.extend(how) or Capitals()
    monkeypatch.setattr(translate_command, "load_translator", load)
    return found


def test_a_real_translator(trained, files, succeeds):
    [path] = files(texts=["abc", "", "abcde" * 2_000])
    printed = succeeds("translate", trained, path, "--beam 1")
    texts = printed.out.splitlines()
    assert len(texts) == 3 and texts[1] == "" and set(texts[0]) <= set("abcde⁇")
    assert printed.err.startswith(
        "seqattn: warning: Translator has read only the beginning of 1 text. Expected "
        "at most max_source=1000 tokens, received more at position 2 (from 0). "
    )


def searching(own, monkeypatch):
    found = SimpleNamespace(search=own)
    found.with_search = lambda search: SimpleNamespace(search=search)
    monkeypatch.setattr(ks.Translator, "load", lambda path: found)


GREEDY, SAMPLE = ks.Greedy(**RULES), ks.decoding.Sample(**RULES)


@pytest.mark.parametrize(
    "own, options, search",
    [
        (OWN, (), OWN),
        (OWN, (None, 1), OWN),
        (OWN, (1,), GREEDY),
        (OWN, (4,), beam(4, 0.7)),
        (OWN, (None, 4), beam(4, 0.7, 4)),
        (OWN, (None, None, 0.5), beam(2, 0.5)),
        (OWN, (3, 2, 0.5), beam(3, 0.5, 2)),
        (beam(4, 0.7, 3), (5,), beam(5, 0.7, 3)),
        (beam(4, 0.7, 3), (2,), beam(2, 0.7, 2)),
        (beam(4, 0.7, 3), (None, 1), beam(4, 0.7, 1)),
        (GREEDY, (None, 1), GREEDY),
        (GREEDY, (3,), ks.BeamSearch(3, **RULES)),
        (SAMPLE, (None, 3), ks.BeamSearch(3, n_best=3, **RULES)),
        (SAMPLE, (3, None, 0.5), ks.BeamSearch(3, 0.5, **RULES)),
    ],
)
def test_search(trained, monkeypatch, own, options, search):
    """Options that are left out keep the values of the translator."""
    searching(own, monkeypatch)
    assert load_translator(trained, *options).search == search


@pytest.mark.parametrize(
    "own, options, received",
    [
        (OWN, "--beam 1", "--beam 1"),
        (ks.Greedy(), "", "the translator's own Greedy(min_length=0, forbidden_"),
    ],
)
def test_a_length_penalty_without_effect(
    fails, trained, files, monkeypatch, own, options, received
):
    searching(own, monkeypatch)
    [path] = files(texts=TEXTS)
    fails(
        f"translate {trained} {path} {options} --length-penalty 0.5",
        "seqattn got a length penalty that has no effect",
        f"received --length-penalty 0.5 and {received}",
        ". Leave it out, or add e.g. --beam 5.",
    )


def test_a_file_and_standard_input(asked, files, monkeypatch, tmp_path, succeeds):
    [path] = files(texts=TEXTS)
    assert succeeds("translate run", path, "--beam 3").out == "ABC\n\nEDCB\n"
    assert asked == ["run", 3, None, None]
    content = io.BytesIO(b"\xef\xbb\xbfabc\r\n\nedcb")  # no line feed at the end
    stdin = SimpleNamespace(buffer=content, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert succeeds("translate run --output", tmp_path / "out").out == ""
    assert (tmp_path / "out").read_text() == "ABC\n\nEDCB\n"


@pytest.mark.parametrize(
    "words",
    [["run", "a b", "c?\td e"], ["--model", "run", "a b", "--beam", "3", "c?\td e"]],
)
def test_texts(asked, capsys, words):
    assert main(["translate", "--n-best", "1", *words]) == 0
    assert capsys.readouterr().out == "A B\nC?\tD E\n"
    assert asked[0] == "run"


def test_a_file_whose_name_could_be_a_text(asked, files, monkeypatch, tmp_path, capsys):
    files(**{"a b": ["abc"]})
    monkeypatch.chdir(tmp_path)
    assert main(["translate", "run", "--beam", "3", "a b"]) == 0
    assert capsys.readouterr().out == "ABC\n"
    assert main(["translate", "run", "my b.txt"]) == 2
    capsys.readouterr()
    assert main(["translate", "--model", "run", "a b"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "A B\n" and printed.err == (
        "seqattn: warning: translate got the name of a file as a text. Expected texts "
        "after --model, received 'a b'. To translate the lines of the file, write: "
        "seqattn translate run 'a b'.\n"
    )


def test_a_file_of_gzip_with_tabs(asked, files, succeeds):
    path, _ = files(table=gzip.compress(b"a\tb\nc\td\n"), texts=["a\tb", "c"])
    printed = succeeds("translate run", path)
    assert printed.out == "A\tB\nC\tD\n"
    assert printed.err == (
        "seqattn: warning: translate got texts with tabs. Expected a text in each "
        f"line, received tabs in 2 of 2 lines of '{path}'. If it is a table, write "
        "the column with the texts into a file of its own, e.g. with cut -f1.\n"
    )
    assert succeeds("translate run", path.parent / "texts").err == ""


def test_n_best(asked, files, succeeds):
    [path] = files(texts=["abc", "b"])
    assert succeeds("translate run", path, "--n-best 2").out == (
        "1\t-0.5000\tABC\n1\t-2.5000\tCBA\n2\t-0.5000\tB\n2\t-2.5000\tB\n"
    )


def test_json_and_alignments(asked, files, succeeds):
    [path] = files(texts=["ab"])
    found = json.loads(succeeds("translate run", path, "--json").out)
    alternatives = found.pop("alternatives")
    assert found == {
        **{"source": "ab", "text": "AB", "score": -0.5, "ranking": -0.5},
        "source_tokens": [["a", 0, 1], ["b", 1, 2]],
        "target_tokens": ["A", "B"],
        "alignment": [[1.0, 0.0], [0.0, 1.0]],
    }
    assert [other["text"] for other in alternatives] == ["BA"]
    found = succeeds("translate run", path, "--alignments").out
    assert found.startswith("AB  (-0.50)\n  ab\nA│█ │\nB│ █│\n")


def test_conversation(asked, monkeypatch, succeeds):
    answers = mock.Mock(side_effect=["abc", "edcb", EOFError])
    monkeypatch.setattr("builtins.input", answers)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert succeeds("translate run").out == "ABC\nEDCB\n"


def test_typed_lines_go_to_no_file(fails, asked, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    out = tmp_path / "out"
    what = "translate got an output file for typed lines"
    fails(f"translate run --output {out}", what, f"--output {out} and a terminal")
    assert asked == [] and not out.exists()


@pytest.mark.parametrize("name", ["old", "new"])
def test_the_output_is_checked_first(fails, asked, files, tmp_path, monkeypatch, name):
    files(old=["mine"])
    out = tmp_path / name
    monkeypatch.setattr("os.access", lambda path, mode: False)
    fails(
        ["translate", "run", tmp_path / "nowhere", "--output", out],
        "seqattn got an output that it cannot write. Expected a file in a folder that "
        f"exists, received --output {out}, which you may not write to. Choose another "
        "path.",
    )
    assert asked == []


def test_not_utf_8(fails, trained, asked, files, succeeds):
    [path] = files(texts=b"abc\n\xffab\nde\n\xfe\n")
    fails(
        f"translate {trained} {path}",
        "seqattn got a text that is not UTF-8. Expected UTF-8, received other bytes in "
        f"line 2 of '{path}' and in 1 more. Convert the file, or leave such lines "
        "empty with --encoding-errors skip.",
    )
    [path] = files(texts=b"abc\n\xffab\nedcb\n")
    printed = succeeds("translate run", path, "--encoding-errors skip")
    assert printed.out == "ABC\n\nEDCB\n"
    assert "1 lines are not UTF-8 and stay empty: 2\n" in printed.err


def test_no_translator(fails, files, tmp_path):
    path, *_ = files(texts=TEXTS, old=["mine"], **{"run.json": "{}"})
    what = "seqattn found no translator"
    received = f"received '{tmp_path}', a run without one yet."
    fails(f"translate {tmp_path} {path} --output {tmp_path}/old", what, received)
    assert (tmp_path / "old").read_text() == "mine\n"


def fails_at(number, monkeypatch):
    """The translator fails at a text; returns where each call began."""
    started = []

    def translate(self, texts, batch_size, progress, first):
        started.append(first)
        if first == number:
            raise RuntimeError("enough")
        return [self(text) for text in texts]

    monkeypatch.setattr(Capitals, "translate", translate)
    return started


def test_finished_lines_are_written_at_once(asked, files, monkeypatch):
    started, written = fails_at(4, monkeypatch), io.StringIO()
    monkeypatch.setattr(translate_command, "_CHUNK", 2)
    monkeypatch.setattr(sys, "stdout", written)
    [path] = files(texts=list("abcdef"))
    with pytest.raises(RuntimeError, match="enough"):
        main(["translate", "run", str(path), "--n-best", "2"])
    assert started == [0, 2, 4]
    numbers = [line.split("\t")[0] for line in written.getvalue().splitlines()]
    assert numbers == list("11223344")


def test_an_old_output_stays_if_nothing_is_translated(asked, files, monkeypatch):
    fails_at(0, monkeypatch)
    texts, old = files(texts=["a"], old=["mine"])
    with pytest.raises(RuntimeError, match="enough"):
        main(["translate", "run", str(texts), "--output", str(old)])
    assert old.read_text() == "mine\n"
