"""The code of the README and of docs/ runs as it stands there."""

import inspect
import os
import re
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_seqattn
from tests.contract.rows import BASES
from tests.public import LAYERS, NAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SMALLER = {"train=2000": "train=64", "epochs=15": "epochs=1", "epochs=5,": "epochs=1,"}
SMALLER |= {"fit_pairs(pairs)": "fit_pairs(pairs, epochs=1, verbose=0)"}
SMALLER |= {"[:100]": "[:4]", "8000": "50", "512": "8", "256": "4"}


def text_of(name):
    [path] = [path for path in PAGES if path.relative_to(ROOT) == Path(name)]
    return path.read_text("utf-8")


def run(name):
    return run_code(text_of(name), {})


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run_code(text, names):
    for block in blocks(text):
        for number, smaller in SMALLER.items():
            block = block.replace(number, smaller)
        exec(block, names)
    return names


def test_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert all(number in text_of("README.md") for number in list(SMALLER)[:2])
    lines = [f"Wie geht es Hund {i} ?\thow is dog {i} ?\n" for i in range(40)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), "utf-8")
    names = run("README.md")
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"dates", "dates_served", "pairs.tsv"}
    assert len(capsys.readouterr().out.splitlines()) > 2
    assert names["decoded"].tokens.shape[:2] == (2, 2)
    *_, own_model = blocks(text_of("README.md"))
    assert own_model in text_of("docs/models.md")  # where it trains


def test_models():
    own, functional = text_of("docs/models.md").split("## A Functional model")
    names = run_code(own, {})
    sentences = sentences_of(names)
    assert_trains(names["model"], sentences, "auto")
    run_code(functional, names)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert_trains(names["model"], sentences, loss)
    assert names["step"].alignment.shape == (2, 4)
    assert not np.any(names["step"].alignment[:, 3])


def sentences_of(names):
    return {"source": names["source"], "target": names["shifted"]}, names["target"]


def assert_trains(model, sentences, loss):
    model.compile("adam", loss)
    history = model.fit(*sentences, verbose=0).history
    assert np.isfinite(history["loss"]).all()


PAGES_OF_DOCS = {  # and what their names are after the code has run
    "decoding": lambda names: names["decoded"].tokens.shape[:2] == (2, 2),
    "training": lambda names: "val_exact_match" in names["model"].history.history,
    "tensorboard": lambda names: os.listdir("logs") == ["validation"],
    "pretrained": lambda names: len(names["translation"].source_tokens) == 4,
    "serving": lambda names: names["translation"].text == "2027-05-03",
    "from_tfa": lambda names: names["decoded"].tokens.shape[:2] == (2, 1),
    "layers": lambda names: (
        len(names["alignments"]) == 6 and names["outputs"].shape == (2, 3, 32)
    ),
    "questions": lambda names: names["losses"][-1] < names["losses"][0],
}


@pytest.mark.parametrize("page", PAGES_OF_DOCS)
def test_page_of_docs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert PAGES_OF_DOCS[page](run(f"docs/{page}.md"))


def test_every_page_with_code_is_tested_and_all_are_in_the_index():
    tested = {"readme", "models", *PAGES_OF_DOCS}
    for path in PAGES:
        assert "```python" not in path.read_text("utf-8") or path.stem.lower() in tested
    index = text_of("docs/README.md")
    missing = [path.name for path in PAGES[1:] if f"({path.name})" not in index]
    assert missing == ["README.md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    """Files exist, and so do the headings of other pages."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if target.startswith("http"):
            continue
        file, _, heading = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", x).lower() for x in headings]
            assert heading in [x.replace(" ", "-") for x in anchors], target


def test_tables_name_every_layer_and_where_its_equations_are():
    table = text_of("docs/layers.md").split("## Namespaces")[1].split("## ")[0]
    listed = set(re.findall(r"`([A-Za-z_]\w+)`", table)) - {"seqattn", "ops"}
    assert not listed - set(NAMES) - set(keras_seqattn.__all__)
    missing = set(LAYERS) - set(BASES) - listed
    assert not missing, f"add {missing} to the table in docs/layers.md"
    # Each row names a file in which its tags are, each on one line.
    table = text_of("docs/layers.md").split("## Where the equations are")[1]
    rows = re.findall(r"^\| .+ \| (\(.+\)) \| `\w+` in `(.+)` \|$", table, re.MULTILINE)
    assert len(rows) == 8
    for tags, file in rows:
        code = (ROOT / file).read_text("utf-8")
        for tag in re.findall(r"\(.+?\)", tags):
            assert code.count(f"# Bahdanau {tag}\n") == 1, (tag, file)


def test_the_words_of_the_lectures():
    """The names of the right column exist; a call has arguments that are taken."""
    table = text_of("docs/layers.md").split("## Words of the lectures")[1]
    for code in re.findall(r"`([\w.]+(?:\(.*?\))?)`", table.split("\n## ")[0]):
        name, _, arguments = code.removesuffix(")").partition("(")
        if name.startswith("ops.") or name in ("attention", "value_units"):
            continue
        found = keras_seqattn if name.startswith("zoo.") else keras_seqattn.layers
        for part in name.split("."):
            found = getattr(keras.layers if part == "SimpleRNN" else found, part)
        known = inspect.signature(found).parameters
        assert set(re.findall(r"(\w+)=", arguments)) <= {*known, "layers"}, code


def test_the_map_names_what_exists():
    """ARCHITECTURE.md: the paths of its tree and text, all folders of the library."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    [tree] = re.findall(r"## The tree\n.*?```text\n(.*?)```", text, re.DOTALL)
    paths = tree_paths(tree.splitlines())
    assert [str(path) for path in paths if not path.exists()] == []
    library = ROOT / "keras_seqattn"
    folders = {path.parent for path in library.glob("*/__init__.py")}
    assert folders <= set(paths)
    named = re.findall(r"`([\w/]+\.py)`", text)
    missing = [x for x in named if not any((y / x).exists() for y in (ROOT, library))]
    assert not missing, f"write {missing} from the root, or from keras_seqattn/"


def tree_paths(lines):
    """The paths of a tree: names before two spaces, two more spaces for each level."""
    parents, paths = [ROOT], []
    for line in lines:
        level = (len(line) - len(line.lstrip())) // 2
        names = line.strip().split("  ")[0].split()
        del parents[level + 1 :]
        paths += [parents[-1] / name for name in names]
        parents.append(paths[-1])
    return paths
