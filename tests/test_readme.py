"""The code of the README and of docs/ runs as it stands there."""

import re
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_seqattn
from tests.contract.rows import BASES
from tests.public import LAYERS, NAMES

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_a_translator_in_ten_lines(blocks, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    smaller = {
        "train=2000": "train=64",
        "epochs=15": "epochs=1",
        "epochs=5,": "epochs=1,",
    }
    texts = blocks[:2]
    for words, fewer in smaller.items():
        assert any(words in text for text in texts)
        texts = [text.replace(words, fewer) for text in texts]
    names = {}
    exec(texts[0], names)
    assert {path.name for path in tmp_path.iterdir()} == {"dates", "dates_served"}
    assert len(capsys.readouterr().out.splitlines()) > 2
    exec(texts[1], names)  # goes on from there
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["validation"]


def test_code_runs(blocks):
    _, _, zoo_block, own_block, layers_block, step_block = blocks
    tokens = np.array([[5, 6, 7, 0], [8, 9, 0, 0]])
    names = {}
    exec(zoo_block, names)  # complete: a reader can paste it
    assert names["decoded"].tokens.shape[:2] == (2, 2)
    for block in (own_block, layers_block):
        exec(block, names)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        names["model"].compile("adam", loss)
        pairs = {"source": tokens, "target": tokens}
        history = names["model"].fit(pairs, tokens, verbose=0).history
        assert np.isfinite(history["loss"]).all()
    values = np.ones((2, 4, 512), "float32")
    names |= {
        "values": values,
        "mask": tokens != 0,
        "bridged": values[:, 0],
        "token": np.array([1, 1]),
    }
    exec(step_block, names)
    assert names["step"].alignment.shape == (2, 4)
    assert not np.any(names["step"].alignment[:, 3])


@pytest.mark.parametrize("page", ["from_tfa", "questions"])
def test_pages(page):
    text = (README.parent / "docs" / f"{page}.md").read_text("utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec(block, names)
    if page == "from_tfa":
        assert names["found"].tokens.shape[:2] == (2, 1)
    else:
        assert names["losses"][-1] < names["losses"][0]


def test_table_names_every_layer():
    """What there is, is listed; what is listed, exists."""
    table = README.read_text("utf-8").split("## What there is")[1].split("## ")[0]
    listed = set(re.findall(r"`([A-Za-z_]\w+)`", table)) - {"layers", "seqattn"}
    namespaces = set(keras_seqattn.__all__)
    assert listed <= set(NAMES) | namespaces
    assert set(LAYERS) - set(BASES) <= listed
