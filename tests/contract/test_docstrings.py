"""What the docstring of a layer says is executed: its shapes, its equation tags."""

import importlib
import inspect
import re

import pytest
from keras import tree

from keras_seqattn.testing.case import sample
from tests.contract import docstrings
from tests.contract.rows import BASES, ROWS
from tests.public import LAYERS

WITH = {
    section: [n for n in LAYERS if section in docstrings.sections(LAYERS[n])]
    for section in ("Shapes", "Equations")
}


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
    """Every number promised in the docstring is on the line that computes it."""
    promised = docstrings.tags(LAYERS[name])
    code = "\n".join(map(inspect.getsource, modules_of(LAYERS[name])))
    comments = " ".join(re.findall(r"#.*", code))
    missing = [tag for tag in promised if f"({tag})" not in comments]
    assert not missing, f"{name} promises {missing}: no such comment on a code line"


def modules_of(layer_class):
    """The modules of a class and its bases, and the ops that they import."""
    found = {
        inspect.getmodule(base)
        for base in layer_class.__mro__
        if base.__module__.startswith("keras_seqattn")
    }
    for module in list(found):
        for name in re.findall(
            r"from (keras_seqattn\.ops\.\w+)", inspect.getsource(module)
        ):
            found.add(importlib.import_module(name))
    return found


@pytest.mark.parametrize("name", [n for n in LAYERS if n not in BASES])
def test_sections(name):
    """A reader finds arguments, shapes and an example in every docstring."""
    found = docstrings.sections(LAYERS[name])
    missing = {"Args", "Shapes", "Example"} - set(found)
    if name not in ("AttentionDecoder", "ZeroBridge", "CopyBridge"):
        missing |= {"Equations", "References"} - set(found)
    assert not missing
