"""What the docstring of a layer says is executed: its shapes, its equation tags."""

import pathlib
import re

import pytest
from keras import tree

import keras_seqattn
from keras_seqattn.ops.cell import gru_paper_step
from keras_seqattn.testing.case import sample
from tests.contract import docstrings
from tests.contract.rows import BASES, ROWS
from tests.public import LAYERS

WITH = {
    section: [n for n in LAYERS if section in docstrings.sections(LAYERS[n])]
    for section in ("Shapes", "Equations")
}
CODE = "\n".join(
    path.read_text("utf-8")
    for folder in ("ops", "layers")
    for path in (pathlib.Path(keras_seqattn.__file__).parent / folder).rglob("*.py")
)


@pytest.mark.parametrize("name", WITH["Shapes"])
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
    for row in ROWS:
        layer = row.make()
        if layer_class in (type(layer), type(getattr(layer, "cell", None))):
            break
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


@pytest.mark.parametrize("name", WITH["Equations"])
def test_equations_stand_in_the_code(name):
    """Author and number of an equation are on the one line that computes it."""
    promised = docstrings.promised_tags(LAYERS[name])
    assert not docstrings.wrong_tags(promised, CODE)
    papers = docstrings.authors(LAYERS[name])
    assert {tag.split()[0] for tag in promised} <= papers


def test_equations_of_the_ops_stand_in_the_code():
    assert not docstrings.wrong_tags(docstrings.promised_tags(gru_paper_step), CODE)


def test_no_line_has_a_number_without_an_author():
    """Neither in a comment nor at the end of a line of a docstring."""
    assert not re.findall(r"(?:#|  )\s*\([A-Z]?[0-9.]+\)$", CODE, re.MULTILINE)


def test_a_tag_of_the_wrong_paper_is_an_error():
    """See et al. and Luong et al. have different equations (10)."""
    promised = docstrings.promised_tags(LAYERS["CoverageAttention"])
    assert "See (10)" in promised
    wrong = CODE.replace("# See (10)", "# Luong (10)")
    assert docstrings.wrong_tags(promised, wrong) == [
        "See (10) is on 0 lines of the code, not on one"
    ]


def test_an_equation_on_two_lines_is_an_error():
    assert docstrings.wrong_tags(["See (10)"], 2 * "x = y  # See (10)\n") == [
        "See (10) is on 2 lines of the code, not on one"
    ]


@pytest.mark.parametrize("name", [n for n in LAYERS if n not in BASES])
def test_sections(name):
    """A reader finds arguments, shapes and an example in every docstring."""
    found = docstrings.sections(LAYERS[name])
    missing = {"Args", "Shapes", "Example"} - set(found)
    if name not in ("AttentionDecoder", "ZeroBridge", "CopyBridge"):
        missing |= {"Equations", "References"} - set(found)
    assert not missing
