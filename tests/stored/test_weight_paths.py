"""Weights are stored under the paths that the list keeps: they are the file format."""

import pytest

from tests.stored import weight_paths
from tests.stored.models import FAMILIES, LAYERS

KEPT = weight_paths.kept()


@pytest.fixture(scope="module")
def layer_paths():
    """Of all rows at once: one file."""
    return weight_paths.layer_paths()


def compare(name, found):
    """Raises if the paths or shapes are not those of the list."""
    expected = KEPT.get(name, {})
    missing = [line for line in lines(expected) if line not in lines(found)]
    new = [line for line in lines(found) if line not in lines(expected)]
    if missing or new:
        raise AssertionError(
            f"Keras stores the weights of {name} in another way. Expected the paths "
            f"and shapes in {weight_paths.KEPT.name}, received none of {missing}, and "
            f"also {new}. Files that exist cannot be loaded any more. Keep the "
            "attribute or read the old paths. If the layer is new, add it to the list: "
            "python -m tests.stored.weight_paths --add"
        )


def lines(paths):
    return [f"{path} {shape}" for path, shape in paths.items()]


@pytest.mark.parametrize("name", FAMILIES)
def test_zoo(name):
    compare(f"zoo {name}", weight_paths.zoo_paths(name))


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, layer_paths):
    compare(f"layer {name}", layer_paths.get(name, {}))


def test_training():
    """Scheduled sampling, an optimizer with moving averages."""
    compare("training", weight_paths.training_paths())


def test_nothing_is_gone(layer_paths):
    """Every name of the list is still compared."""
    compared = {f"zoo {name}" for name in FAMILIES} | {"training"}
    compared |= {f"layer {name}" for name in layer_paths}
    assert set(KEPT) <= compared, f"not compared: {sorted(set(KEPT) - compared)}"


def test_the_message():
    [path, *_] = KEPT["training"]
    found = {**KEPT["training"]}
    found["other/vars/0"] = found.pop(path)
    with pytest.raises(AssertionError, match="Keep the attribute or read the old") as e:
        compare("training", found)
    assert path in str(e.value) and "other/vars/0" in str(e.value)
