"""The examples in the docstrings run, and every argument is described."""

import doctest
import inspect
import os

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.tensorboard import metrics, picture, projector, tokens
from tests.contract import docstrings

PUBLIC = {name: getattr(ks.tensorboard, name) for name in ks.tensorboard.__all__}
PUBLIC["AttentionCallback"] = ks.AttentionCallback
OTHERS = [
    metrics.longest_common,
    picture.picture_of,
    projector.label,
    tokens.from_bytes,
    tokens.in_text,
]
EXAMPLES = {f.__name__: f for f in [*PUBLIC.values(), *OTHERS]}
del EXAMPLES["to_json"]  # of a picture, whose example is that of picture_of


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    of_module = inspect.getmodule(EXAMPLES[name])
    names = {"keras": keras, "np": np, "os": os, **vars(ks), **vars(of_module)}
    text = inspect.getdoc(EXAMPLES[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", PUBLIC)
def test_args(name):
    described = docstrings.described(PUBLIC[name])
    assert described == list(inspect.signature(PUBLIC[name]).parameters)
