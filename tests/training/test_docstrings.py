"""The examples in the docstrings run, and every argument is described."""

import doctest
import inspect

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.contract import docstrings

PUBLIC = {
    name: value
    for name, value in vars(ks).items()
    if getattr(value, "__module__", "").startswith("keras_seqattn.training")
    and name != "SamplingProbability"
}
WITHOUT_EQUATIONS = {
    *("AlignmentConfidence", "DivergenceGuard", "GoldLinks", "TextMetric"),
    "Validation",
}


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name):
    names = {"keras": keras, "np": np, **vars(ks)}
    text = inspect.getdoc(PUBLIC[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", PUBLIC)
def test_args(name):
    described = docstrings.described(PUBLIC[name])
    own = [p for p in inspect.signature(PUBLIC[name]).parameters if p != "kwargs"]
    assert [d for d in described if d != "kwargs"] == own


@pytest.mark.parametrize("name", PUBLIC)
def test_sections(name):
    needed = {"Example"} if name in WITHOUT_EQUATIONS else {"Equations", "Example"}
    assert needed <= set(docstrings.sections(PUBLIC[name]))
