"""The paths under which weights are stored, and the list of them that is kept.

    python -m tests.stored.weight_paths --add

adds the models and layers that the list does not have yet. What it has stays as it is:
these paths are the file format.
"""

import sys
import tempfile
from pathlib import Path

import h5py

from tests.stored import project as ks
from tests.stored.models import FAMILIES, LAYERS, Holder, build, zoo_model

KEPT = Path(__file__).with_name("weight_paths.txt")


def layer_paths():
    """`{name of the row: {path: shape}}` of all layers with weights."""
    layers = {name: build(row.make(), name) for name, row in LAYERS.items()}
    found = {}
    for path, shape in stored_paths(Holder(layers)).items():
        name, _, rest = path.partition("/")
        found.setdefault(name.removeprefix("case_"), {})[rest] = shape
    return found


def training_paths():
    """`{path: shape}` of a model in training: scheduled sampling, an optimizer."""
    model = ks.ScheduledSampling(zoo_model("wang_simple"), ks.LinearProbability(0.1))
    model.compile(ks.FusedAdam(use_ema=True), ks.SmoothedCrossentropy())
    model.optimizer.build(model.trainable_variables)
    return stored_paths(model)


def stored_paths(model):
    found = {}

    def visit(path, item):
        if isinstance(item, h5py.Dataset):
            found[path] = item.shape

    with tempfile.TemporaryDirectory() as folder:
        model.save_weights(f"{folder}/model.weights.h5")
        with h5py.File(f"{folder}/model.weights.h5") as file:
            file.visititems(visit)
    return dict(sorted(found.items()))


def kept():
    found, name = {}, None
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            path, _, shape = line.strip().partition(" ")
            found[name][path] = tuple(int(size) for size in shape.split())
        else:
            name, found[line] = line, {}
    return found


def add():
    """Adds what is not in the list; the rest stays as it is."""
    found = {f"zoo {name}": stored_paths(zoo_model(name)) for name in FAMILIES}
    found |= {f"layer {name}": paths for name, paths in layer_paths().items()}
    found["training"] = training_paths()
    lines, old = [], kept()
    for name, paths in {**found, **old}.items():
        lines.append(name)
        for path, shape in paths.items():
            lines.append(" ".join([f"  {path}", *map(str, shape)]))
    KEPT.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    new = [name for name in found if name not in old]
    print("added:", *(new or ["nothing"]), sep="\n  ")


if __name__ == "__main__":
    if sys.argv[1:] != ["--add"]:
        sys.exit(__doc__)
    add()
