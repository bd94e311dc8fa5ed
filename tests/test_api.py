"""The public surface is the one on record, and every name in it is documented."""

import functools
import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import NamedTuple

import keras
import pytest

import keras_seqattn
from keras_seqattn.testing import api
from tests.public import NAMES, PATHS

NAMESPACES = [
    path
    for path, value in {
        "keras_seqattn": keras_seqattn,
        **api.listed("keras_seqattn"),
    }.items()
    if inspect.ismodule(value) and path not in ("keras_seqattn.types", api.ZOO)
]


def test_surface_is_on_record():
    diff = api.difference()
    assert not diff, (
        f"{diff}\nIf this is intended, run `make api` and add an entry to CHANGELOG.md."
    )


@pytest.mark.parametrize("name", NAMESPACES)
def test_all_is_sorted_and_complete(name):
    namespace = importlib.import_module(name)
    names = list(namespace.__all__)
    assert names == sorted(set(names))
    assert [name for name in names if not hasattr(namespace, name)] == []


def test_a_name_has_one_home():
    """Only the few of the top level stand in two places."""
    top = [path for path in PATHS if path.count(".") == 1]
    assert len(NAMES) == len(PATHS) - len(top)
    assert all(NAMES[path.rpartition(".")[2]] is PATHS[path] for path in top)


@pytest.mark.parametrize("name", NAMESPACES)
def test_no_module_hides_a_function(name):
    """`keras_seqattn.text.heat_map` is a function, whatever has been imported."""
    namespace = importlib.import_module(name)
    modules = {info.name for info in pkgutil.iter_modules(namespace.__path__)}
    packages = {x for x in namespace.__all__ if inspect.ismodule(getattr(namespace, x))}
    assert not (modules - packages) & set(namespace.__all__)


def test_an_old_name_says_where_it_is():
    with pytest.raises(AttributeError, match=r"home is keras_seqattn\.layers\.ChoCell"):
        keras_seqattn.ChoCell  # noqa: B018
    with pytest.raises(ImportError, match="from keras_seqattn.text import heat_map"):
        from keras_seqattn import heat_map  # noqa: F401
    assert not hasattr(keras_seqattn, "ChoCell")
    with pytest.raises(AttributeError, match="has no attribute 'ChocCell'$"):
        keras_seqattn.ChocCell  # noqa: B018


def test_the_rest_is_loaded_when_it_is_needed():
    code = "import sys, keras_seqattn; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = done.stdout.split()
    late = ("export", "serving", "testing", "zoo", "cli")
    assert not {f"keras_seqattn.{name}" for name in late} & set(loaded)
    assert "keras_seqattn.layers" in loaded


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_documented(name):
    value = NAMES[name]
    if callable(value):
        # A NamedTuple without a docstring is given "Name(field, ...)" by Python.
        assert value.__doc__, f"{name} has no docstring"
        assert not value.__doc__.startswith(f"{name}("), f"{name} has no docstring"


def test_every_serialisable_class_is_public_by_its_name():
    registered = keras.saving.get_custom_objects()
    ours = {
        key.removeprefix("keras_seqattn>")
        for key in registered
        if key.startswith("keras_seqattn>")
    }
    assert sorted(ours - set(NAMES)) == []


class Pair(NamedTuple):
    """Two."""

    left: int
    right: int = 0


class Verbose(keras.layers.Layer):
    """A layer with one verb of its own."""

    def __init__(self, units, *, activation=keras.ops.tanh, **kwargs):
        super().__init__(**kwargs)

    def call(self, inputs, mask=None):
        return inputs

    def get_config(self):
        return super().get_config()

    def attend(self, query: int, other=object()) -> int:  # noqa: B008
        return query

    @property
    def depth(self):
        return 1

    def _hidden(self):
        return 0


class Quiet(Verbose):
    """Inherits its verbs."""

    def call(self, inputs):
        return inputs


def test_describe_names_what_a_user_calls():
    assert list(api.describe("m.Verbose", Verbose)) == [
        "m.Verbose(units, *, activation=tanh, **kwargs)",
        "m.Verbose.attend(self, query, other=<object>)",
        "m.Verbose.call(self, inputs, mask=None)",
        "m.Verbose.depth",
    ]
    assert list(api.describe("m.Quiet", Quiet, public=[Verbose, Quiet])) == [
        "m.Quiet(units, *, activation=tanh, **kwargs)",
        "m.Quiet.call(self, inputs)",
    ]
    assert list(api.describe("m.Pair", Pair)) == ["m.Pair(left, right=0)"]
    assert list(api.describe("m.version", "1.0")) == ["m.version"]


def test_decorated_function_keeps_its_signature():
    def add(a, b=1):
        return a + b

    @functools.wraps(add)
    def wrapped(*args, **kwargs):
        return add(*args, **kwargs)

    assert api.signature(wrapped) == "(a, b=1)"


def test_check_says_what_to_do(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(api, "api_file", lambda: tmp_path / "api.txt")
    monkeypatch.setattr(api, "surface", lambda: ["keras_seqattn.f(x)"])
    assert api.main(["--check"]) == 1
    printed = capsys.readouterr().out
    assert "+keras_seqattn.f(x)" in printed
    assert "make api" in printed and "CHANGELOG.md" in printed
    assert api.main(["--write"]) == 0
    assert api.main(["--check"]) == 0
