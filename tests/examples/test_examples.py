"""Every example runs, in a process of its own, as a user would start it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from examples import from_zoo, gnmt_multi30k, luong_variants, reverse

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BY_DEFAULT = {"compose", "demo"}  # most people start with these; the others need --all


def run(example, folder, *options):
    """Run an example with a few steps; return what it prints."""
    finished = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", example, "--smoke", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.system
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            path,
            marks=() if path.stem in BY_DEFAULT else pytest.mark.slow,
            id=path.stem,
        )
        for path in EXAMPLES
    ],
)
def test_runs(example, tmp_path):
    assert run(example, tmp_path).strip()
    assert not list(tmp_path.iterdir())  # it writes only where an option says


@pytest.mark.system
@pytest.mark.slow
def test_a_saved_training_translates(tmp_path):
    options = "--folder", "kept", "--out", "curves.png"
    run(ROOT / "examples" / "gnmt_multi30k.py", tmp_path, *options)
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "curves.png"}
    translator = ks.Translator.load(tmp_path / "kept" / "translator")
    assert isinstance(translator("elf").text, str)


# Every example, whether it runs by default or not -------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_says_how_to_start_it(example):
    docstring = ast.get_docstring(ast.parse(example.read_text("utf-8")))
    assert f"python examples/{example.name}" in docstring


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_has_a_seed_and_a_smoke_run(example):
    options = {
        call.args[0].value
        for call in ast.walk(ast.parse(example.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", None) == "add_argument"
    }
    assert {"--seed", "--smoke"} <= options


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_uses_public_names_only(example):
    imported = set()
    for node in ast.walk(ast.parse(example.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    ours = {name for name in imported if name.startswith(("keras_seqattn", "zoo"))}
    namespaces = {f"keras_seqattn.{name}" for name in ks.__all__}
    equations = {name for name in ours if name.startswith("keras_seqattn.ops.")}
    assert ours - equations <= {"keras_seqattn", *namespaces}
    assert not [name for name in equations if name.startswith("keras_seqattn.ops.fast")]


# The pictures -------------------------------------------------------------------------


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_the_reverser_draws_its_attention(tmp_path):
    path = tmp_path / "attention.png"
    reverse.draw(path, np.array([3, 4, 0]), np.array([4, 3, 2, 2]), np.eye(4, 3))
    assert is_picture(path)


def test_a_translation_is_drawn_without_its_end(tmp_path):
    path = tmp_path / "attention.png"
    translation = ks.translator.Translation(
        source="ab",
        text="b",
        score=0.0,
        ranking=0.0,
        source_tokens=[
            ks.translator.Token("a", 0, 1),
            ks.translator.Token("b", 1, 2),
            ks.translator.Token("</s>", 2, 2),
        ],
        target_tokens=["b", "</s>"],
        alignment=np.eye(2, 3),
    )
    from_zoo.draw(path, translation)
    assert is_picture(path)


def test_variants_are_drawn(tmp_path):
    path = tmp_path / "variants.png"
    rows = [
        luong_variants.Row(*names, 10, 50.0, 1.0) for names in luong_variants.VARIANTS
    ]
    luong_variants.draw(path, rows)
    assert is_picture(path)


def test_learning_curves_are_drawn(tmp_path):
    path = tmp_path / "curves.png"
    history = {"perplexity": [9.0, 4.0], "val_tokenized_bleu": [1.0, 20.0]}
    gnmt_multi30k.draw(path, history)
    assert is_picture(path)


# The reversal -------------------------------------------------------------------------


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
