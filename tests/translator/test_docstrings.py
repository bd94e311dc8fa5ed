"""The examples in the docstrings run, and every argument is described."""

import doctest
import inspect

import keras
import pytest

import keras_seqattn as ks
from tests.contract import docstrings

PUBLIC = {
    name: value
    for name, value in vars(ks).items()
    if getattr(value, "__module__", "").startswith("keras_seqattn.translator")
}
MADE = {"Token", "Translation", "Translations"}  # by a Translator


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name):
    names = {"keras": keras, **vars(ks)}
    text = inspect.getdoc(PUBLIC[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples or name in MADE, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"Token", "Translations"}))
def test_args(name):
    described = docstrings.described(PUBLIC[name])
    own = list(inspect.signature(PUBLIC[name]).parameters)
    assert [d for d in described if d in own] == own
