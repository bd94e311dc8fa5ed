"""Every example runs; with --all in a process of its own, as a user would start it."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from examples import demo, from_zoo, gnmt_multi30k, luong_variants, reverse
from keras_seqattn.data import Pairs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BY_DEFAULT = ("compose", "demo")  # most people start with these


def run(example, folder, *options):
    command = [sys.executable, "-W", "error::UserWarning", example, "--smoke", *options]
    how = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    how |= {"capture_output": True, "text": True, "timeout": 240}
    finished = subprocess.run(command, **how)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.system
@pytest.mark.parametrize("name", BY_DEFAULT)
def test_runs_here(name, tmp_path, monkeypatch, capfd):
    """The same script without a new process, which would import everything again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--smoke"])
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    assert capfd.readouterr().out.strip()
    assert not list(tmp_path.iterdir())  # it writes only where an option says


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example, tmp_path):
    assert run(example, tmp_path).strip()
    assert not list(tmp_path.iterdir())


@pytest.mark.system
@pytest.mark.slow
def test_a_saved_training_translates(tmp_path):
    options = "--folder", "kept", "--out", "curves.png"
    run(ROOT / "examples" / "gnmt_multi30k.py", tmp_path, *options)
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "curves.png"}
    translator = ks.Translator.load(tmp_path / "kept" / "translator")
    assert isinstance(translator("elf").text, str)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_conventions(example):
    """It says how to start it, has a seed and a smoke run, and uses public names."""
    module = ast.parse(example.read_text("utf-8"))
    assert f"python examples/{example.name}" in ast.get_docstring(module)
    options, imported = set(), set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
        elif getattr(getattr(node, "func", None), "attr", None) == "add_argument":
            options.add(node.args[0].value)
    assert {"--seed", "--smoke"} <= options
    ours = {name for name in imported if name.startswith(("keras_seqattn", "zoo"))}
    equations = {name for name in ours if name.startswith("keras_seqattn.ops.")}
    public = {"keras_seqattn", *(f"keras_seqattn.{name}" for name in ks.__all__)}
    assert ours - equations <= public
    assert not [name for name in equations if name.startswith("keras_seqattn.ops.fast")]


def drawings(path):
    """Calls that draw, by what they draw."""
    links = np.array([3, 4, 0]), np.array([4, 3, 2, 2]), np.eye(4, 3)
    tokens = [("a", 0, 1), ("b", 1, 2), ("</s>", 2, 2)]
    tokens = [ks.translator.Token(*token) for token in tokens], ["b", "</s>"]
    said = ks.translator.Translation("ab", "b", 0.0, 0.0, *tokens, np.eye(2, 3))
    row = luong_variants.Row
    rows = [row(*variant, 10, 50.0, 1.0) for variant in luong_variants.VARIANTS]
    history = {"perplexity": [9.0, 4.0], "val_tokenized_bleu": [1.0, 20.0]}
    return {
        "attention": lambda: reverse.draw(path, *links),
        "translation": lambda: from_zoo.draw(path, said),
        "variants": lambda: luong_variants.draw(path, rows),
        "curves": lambda: gnmt_multi30k.draw(path, history),
    }


@pytest.mark.parametrize("name", ["attention", "translation", "variants", "curves"])
def test_pictures_are_drawn(name, tmp_path):
    drawings(tmp_path / "picture.png")[name]()
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_pairs_are_sequences_and_their_reversals():
    pairs = reverse.random_pairs(np.random.default_rng(0), 200, 6)
    lengths = set()
    for source, inputs, target in zip(*pairs, strict=True):
        source = source[source != reverse.PAD]
        inputs, target = (x[: len(source) + 1] for x in (inputs, target))
        assert target.tolist() == [*source[::-1], reverse.END]
        assert inputs.tolist() == [reverse.START, *source[::-1]]
        lengths.add(len(source))
    assert lengths == {1, 2, 3, 4, 5, 6}


def test_different_answers_end_it(capsys):
    demo.check_same(["2003-05-01"], ["2003-05-01"])
    with pytest.raises(SystemExit) as caught:
        demo.check_same(["2003-05-01"], ["2003-05-02"])
    assert caught.value.code not in (None, 0)  # a message: the exit code is 1


@pytest.mark.slow
def test_an_export_that_cannot_be_used_ends_it(tmp_path):
    with pytest.raises(SystemExit, match="cannot be used:\n(.|\n)*OSError"):
        demo.answers_of_a_new_process(tmp_path, ["1 May 2003"])


def test_exact_match_is_of_all(capsys):
    pairs = Pairs(["a", "b", "c", "d"], ["1", "2", "3", "4"])
    demo.show_exact_match(pairs, ["1", "2", "x", "4"])
    printed = capsys.readouterr().out
    assert "3 of 4 dates" in printed and "exact match 75.0 %" in printed
    assert printed.endswith("Wrong: c  ->  x, not 3\n")
