"""The public surface is the one on record, and every name in it is documented.

The record holds every kind of name, so it also pins how signatures are written.
"""

import importlib
import inspect
import pkgutil

import keras
import pytest

import keras_seqattn
from keras_seqattn.testing import api
from tests.public import NAMES, PATHS

NAMESPACES = {n for n, x in api.listed("keras_seqattn").items() if inspect.ismodule(x)}
NAMESPACES = sorted({"keras_seqattn", *NAMESPACES} - {"keras_seqattn.types", api.ZOO})


def test_surface_is_on_record():
    intended = "If this is intended, run `make api` and add an entry to CHANGELOG.md."
    assert not api.difference(), f"{api.difference()}\n{intended}"


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


def test_an_old_name_names_its_home():
    with pytest.raises(AttributeError, match=r"home is keras_seqattn\.layers\.ChoCell"):
        keras_seqattn.ChoCell  # noqa: B018
    with pytest.raises(ImportError, match="from keras_seqattn.text import heat_map"):
        from keras_seqattn import heat_map  # noqa: F401
    assert not hasattr(keras_seqattn, "ChoCell")
    with pytest.raises(AttributeError, match="has no attribute 'ChocCell'$"):
        keras_seqattn.ChocCell  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_documented(name):
    value = NAMES[name]
    if callable(value):
        # A NamedTuple without a docstring is given "Name(field, ...)" by Python.
        assert value.__doc__, f"{name} has no docstring"
        assert not value.__doc__.startswith(f"{name}("), f"{name} has no docstring"


def test_every_serialisable_class_is_public_by_its_name():
    registered = (x.split(">") for x in keras.saving.get_custom_objects() if ">" in x)
    ours = {name for package, name in registered if package == "keras_seqattn"}
    hidden = sorted(ours - set(NAMES))
    assert not hidden, f"add {hidden} to __all__ of the namespace, then run make api"


def test_check_names_the_commands(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(api, "api_file", lambda: tmp_path / "api.txt")
    monkeypatch.setattr(api, "surface", lambda: ["keras_seqattn.f(x)"])
    assert api.main(["--check"]) == 1
    printed = capsys.readouterr().out
    for word in ("+keras_seqattn.f(x)", "make api", "CHANGELOG.md"):
        assert word in printed
    assert api.main(["--write"]) == 0
    assert api.main(["--check"]) == 0
