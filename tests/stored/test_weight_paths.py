"""Weights are stored under the paths that the list keeps: they are the file format."""

import pytest

from tests.stored import weight_paths
from tests.stored.models import FAMILIES, LAYERS, zoo_model

KEPT = weight_paths.kept()


@pytest.fixture(scope="module")
def layer_paths():
    return weight_paths.layer_paths()


def compare(name, found):
    if found and name not in KEPT:
        add = ".venv/bin/python -m tests.stored.weight_paths --add"
        pytest.fail(f"{name} is new: {add}")
    assert found == KEPT.get(name, {}), (
        f"Keras stores the weights of {name} in another way than the list says. "
        "Files that exist cannot be loaded any more: keep the attribute, or read the "
        "old paths."
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_zoo(name):
    compare(f"zoo {name}", weight_paths.stored_paths(zoo_model(name)))


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, layer_paths):
    compare(f"layer {name}", layer_paths.get(name, {}))


def test_training():
    """Scheduled sampling, an optimizer with moving averages."""
    compare("training", weight_paths.training_paths())


def test_nothing_is_gone(layer_paths):
    compared = {f"zoo {name}" for name in FAMILIES} | {"training"}
    compared |= {f"layer {name}" for name in layer_paths}
    assert set(KEPT) <= compared, f"not compared: {sorted(set(KEPT) - compared)}"
