"""Every example runs, in a process of its own, as a user would start it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import reverse

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.system
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example, tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(example), "--smoke"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip()
    assert not list(tmp_path.iterdir())  # writes only where it is told to


def test_the_reverser_draws_its_attention(tmp_path):
    path = tmp_path / "attention.png"
    reverse.draw(path, np.array([3, 4, 0]), np.array([4, 3, 2, 2]), np.eye(4, 3))
    assert path.read_bytes().startswith(b"\x89PNG")


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
