"""What was written gives the same answers where nothing of this process is known."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.translator import tiny

ROOT = Path(__file__).parents[2]
TEXTS = [*tiny.SOURCES[:4], "ﬁÉ", "  ", ""]


@pytest.mark.system
def test_in_a_new_process(tmp_path):
    """One test, because it is one process."""
    beam, greedy = tiny.letters(), tiny.joint()
    translators = {"beam": beam, "greedy": greedy}
    beam.save(tmp_path / "translator")
    for name, translator in translators.items():
        translator.export(tmp_path / name)
    found = run(tmp_path)

    assert not found["imports_the_library"]
    for name, translator in translators.items():
        expected = translator(TEXTS)
        assert expected.texts[5:] == ["", ""] and any(expected.texts)
        seven, *ones = found[name]
        check(seven, expected)
        for one, text in zip(ones, TEXTS, strict=False):
            check(one, translator([text]))
    assert found["translator"]["texts"] == beam(TEXTS).texts
    assert np.allclose(found["translator"]["scores"], beam(TEXTS).scores, rtol=1e-4)


def run(folder):
    path = folder / "texts.json"
    path.write_text(json.dumps(TEXTS), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/export/new_process.py"), str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(served, expected):
    """What both signatures say against the translations of this process."""
    assert served["text"] == expected.texts
    assert np.allclose(served["score"], expected.scores, rtol=1e-4)
    for row, best in enumerate(expected):
        for n, translation in enumerate([best, *best.alternatives]):
            target, source = translation.alignment.shape
            assert served["texts"][row][n] == translation.text
            assert served["target_lengths"][row][n] == target
            assert served["target_tokens"][row][n][:target] == translation.target_tokens
            alignment = np.array(served["alignments"][row][n])[:target, :source]
            assert np.allclose(alignment, translation.alignment, atol=1e-4)
            assert served["scores"][row][n] == pytest.approx(translation.score, 1e-4)
            ranking = served["ranking"][row][n]
            assert ranking == pytest.approx(translation.ranking, 1e-4)
        tokens = zip(
            *(served[f"source_{name}"][row] for name in ("tokens", "starts", "ends")),
            strict=True,
        )
        assert served["source_lengths"][row] == len(best.source_tokens)
        assert list(tokens)[: len(best.source_tokens)] == best.source_tokens
        assert served["source_cut"][row] is False
