"""What docstrings say is executed: the shapes of layers, the tags of equations."""

import pathlib
import re

import pytest
from keras import tree

import keras_seqattn
from keras_seqattn.ops.cell import gru_paper_step
from keras_seqattn.testing.case import sample
from tests.contract import docstrings
from tests.contract.rows import BASES, first_rows
from tests.public import LAYERS, NAMES

NUMBERED = [n for n, x in NAMES.items() if callable(x) and docstrings.promised_tags(x)]
FILES = sorted(pathlib.Path(keras_seqattn.__file__).parent.rglob("*.py"))
CODE = "\n".join(path.read_text("utf-8") for path in FILES)


@pytest.mark.parametrize(
    "name", [name for name in LAYERS if docstrings.shapes(LAYERS[name])]
)
def test_shapes(name):
    layer, arguments, results = call_of(LAYERS[name])
    said, sizes = docstrings.shapes(LAYERS[name]), docstrings.Sizes(layer)
    for word, words in said.items():
        if word in arguments and word not in results:
            sizes.bind(words, arguments[word].shape)
    unnamed = list(results.values())
    for word in (w for w in said if w in results or w not in arguments):
        result = results.get(word, unnamed[0])
        sizes.expect(said[word], tree.flatten(result)[0].shape)
        unnamed = unnamed[1:] or unnamed


def call_of(layer_class):
    """The layer of the first row that contains one, with its arguments and results."""
    row, name = first_rows().get(layer_class), layer_class.__name__
    if row is None:
        raise AssertionError(f"no row in tests/contract/rows.py makes a {name}")
    layer = row.make()
    arguments = sample(row)
    results = layer(**arguments)
    if "encoded" in arguments:  # the Shapes of a bridge speak of its fields
        arguments = arguments["encoded"]._asdict()
        arguments["state"] = tree.flatten(arguments["state"])[0]
    if not hasattr(results, "_asdict"):
        single = not isinstance(results, tuple)
        results = dict(enumerate([results] if single else results))
    else:
        results = results._asdict()
    return layer, arguments, results


@pytest.mark.parametrize("name", [*NUMBERED, "gru_paper_step"])
def test_equations_stand_in_the_code(name):
    """Author and number of an equation are on the one line that computes it."""
    owner = NAMES.get(name, gru_paper_step)
    promised, papers = docstrings.promised_tags(owner), docstrings.authors(owner)
    wrong = docstrings.wrong_tags(promised, CODE)
    assert not wrong, "; ".join(wrong)
    assert {tag.split()[0] for tag in promised} <= papers or owner is gru_paper_step


def test_no_line_has_a_number_without_an_author():
    """Neither in a comment nor at the end of a line of a docstring."""
    found = re.findall(r".*(?:#|  )\s*\([A-Z]?[0-9.]+\)$", CODE, re.MULTILINE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [n for n in LAYERS if n not in BASES])
def test_sections(name):
    """A reader finds arguments, shapes and an example in every docstring."""
    found = docstrings.sections(LAYERS[name])
    missing = {"Args", "Shapes", "Example"} - set(found)
    if name not in ("AttentionDecoder", "ZeroBridge", "CopyBridge"):
        missing |= {"Equations", "References"} - set(found)
    assert not missing
