"""The process that measures an export needs the export alone."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import exported_forms

ROOT = Path(__file__).parents[2]
TEXTS = ["third of May 2027", "24 cze 1695"]


def test_a_shipped_export():
    command = [sys.executable, "-m", "benchmarks.exported_forms"]
    done = subprocess.run(
        [*command, ROOT / "saved_models/dates/1"],
        input=json.dumps(TEXTS * 20),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["texts"] == ["2027-05-03", "1695-06-24"] * 20
    assert found["load"] > 0
    assert len(found["single"]) == 40 - exported_forms.WARM_UP
