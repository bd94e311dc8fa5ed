"""Every example in a docstring runs, and *Args* describes the arguments that there are.

`tests/contract/test_docstrings.py` executes what layers say besides: shapes, equations.
"""

import dataclasses
import doctest
import inspect
import os
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.pictures import picture_metrics, token_places
from keras_seqattn.tensorboard import projector
from keras_seqattn.testing import api
from tests import public
from tests.contract import docstrings, rows

HELPERS = (picture_metrics.longest_common, projector.label, token_places.from_bytes)
HELPERS = {f.__name__: f for f in (*HELPERS, token_places.in_text)}
OWNERS = {**public.NAMES, **HELPERS}
OWNERS = {name: owner for name, owner in OWNERS.items() if callable(owner)}

# No example of their own: base classes, and what other functions make.
MADE = {name for name, x in public.CLASSES.items() if hasattr(x, "_fields")}
MADE |= {"BatchPlan", "Ids", "Task", "Translation", "Translations", "to_json"}
BASES = rows.BASES | {"SamplingProbability", "Search", "StepModel"}
KIT = set(ks.testing.__all__)
SERVING = set(ks.serving.__all__) | set(ks.export.__all__)


def verbs():
    for name, cls in public.CLASSES.items():
        for verb, home, member in api.members(cls):
            if inspect.isroutine(member) and home is cls and "Args:" in text_of(member):
                yield pytest.param(member, id=f"{name}.{verb}")


def text_of(owner):
    return inspect.getdoc(owner) or ""


def names_of(owner):
    """What an example may use without importing it."""
    of_module = vars(sys.modules[owner.__module__])
    modules = {"keras": keras, "np": np, "os": os, "tf": tf, "keras_seqattn": ks}
    return {**of_module, **modules, **vars(ks), **vars(ks.data), **public.NAMES}


@pytest.mark.parametrize("name", [n for n in OWNERS if ">>>" in text_of(OWNERS[n])])
def test_example(name):
    owner = OWNERS[name]
    names = names_of(owner)
    example = doctest.DocTestParser().get_doctest(text_of(owner), names, name, None, 0)
    assert example.examples
    assert not doctest.DocTestRunner().run(example).failed


def test_only_these_have_no_example():
    missing = {name for name, owner in OWNERS.items() if ">>>" not in text_of(owner)}
    assert missing <= MADE | BASES | KIT | SERVING


@pytest.mark.parametrize("name", [n for n in OWNERS if "Args:" in text_of(OWNERS[n])])
def test_args(name):
    """Its own in order, and of a base's arguments some; no others."""
    owner = OWNERS[name]
    described = docstrings.described(owner)
    own = [p for p in inspect.signature(owner).parameters if p != "kwargs"]
    inherited = {
        parameter
        for base in getattr(owner, "__mro__", ())
        if base.__module__.startswith("keras_seqattn")
        for parameter in inspect.signature(base.__init__).parameters
    }
    assert set(described) <= {*own, *inherited, "kwargs"}
    if dataclasses.is_dataclass(owner):  # its constructor repeats those of the base
        own = [name for name in own if name in vars(owner)["__annotations__"]]
    assert [d for d in described if d in own] == own


@pytest.mark.parametrize("method", list(verbs()))
def test_args_of_methods(method):
    own = [p for p in inspect.signature(method).parameters if p not in ("self", "cls")]
    assert docstrings.described(method) == own
