"""The examples in the docstrings run, and every argument is described."""

import doctest
import inspect

import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn import data
from tests.contract import docstrings

PUBLIC = {
    name: getattr(data, name)
    for name in data.__all__
    if inspect.isroutine(getattr(data, name)) or inspect.isclass(getattr(data, name))
}


def test_all_is_sorted_and_complete():
    assert list(data.__all__) == sorted(data.__all__)
    own = [
        name
        for name, value in vars(data).items()
        if getattr(value, "__module__", "").startswith("keras_seqattn.data")
    ]
    assert sorted(own) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name):
    names = {"tf": tf, **vars(ks), **vars(data)}
    text = inspect.getdoc(PUBLIC[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    if name not in ("BatchPlan", "Ids"):  # made by plan_batches and encode
        assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", PUBLIC)
def test_args(name):
    described = docstrings.described(PUBLIC[name])
    if name != "Ids":  # its fields have their shapes beside them
        assert described == list(inspect.signature(PUBLIC[name]).parameters)
