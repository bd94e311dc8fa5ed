"""The examples in the docstrings run, and every argument is described."""

import doctest
import inspect

import pytest

import keras_seqattn as ks
from tests.contract import docstrings

PUBLIC = ["Characters", "SentencePiece", "TextProcessor", "WordPiece", "Words"]
METHODS = ["learn", "normalize", "encode", "encode_with_offsets", "decode", "pieces"]


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name):
    text = inspect.getdoc(getattr(ks, name))
    example = doctest.DocTestParser().get_doctest(text, dict(vars(ks)), name, None, 0)
    assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", PUBLIC)
def test_args(name):
    cls = getattr(ks, name)
    assert docstrings.described(cls) == list(inspect.signature(cls).parameters)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PUBLIC)
def test_args_of_methods(name, method):
    function = getattr(getattr(ks, name), method, None)
    if function is not None:  # the base does not learn
        own = [p for p in inspect.signature(function).parameters if p != "self"]
        assert docstrings.described(function) == own
