"""The code of the README runs as it stands there."""

import re
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from tests.contract.rows import BASES

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_code_runs(blocks):
    model_block, step_block = blocks
    names = {}
    exec(model_block, names)
    tokens = np.array([[5, 6, 7, 0], [8, 9, 0, 0]])
    pairs = {"source": tokens, "target": tokens}
    loss = names["model"].fit(pairs, tokens, verbose=0).history["loss"]
    assert np.isfinite(loss).all()
    values = np.ones((2, 4, 512), "float32")
    names |= {
        "values": values,
        "mask": tokens != 0,
        "bridged": values[:, 0],
        "embedded_token": np.ones((2, 256), "float32"),
    }
    exec(step_block, names)
    assert names["step"].alignment.shape == (2, 4)
    assert not np.any(names["step"].alignment[:, 3])


def test_table_names_every_layer():
    """What there is, is listed; what is listed, exists."""
    table = README.read_text("utf-8").split("## What there is")[1].split("## ")[0]
    listed = set(re.findall(r"`([A-Z]\w+)`", table))
    values = {"Attended", "Encoded", "Memory", "Step"}
    assert listed == set(ks.__all__) - BASES - values
