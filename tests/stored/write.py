"""Writes the stored files, with the code of today, for tests of later code.

    python -m tests.stored.write FOLDER

The files of `tests/stored/files` were written by the commit that `written.json` names.
They are kept: who writes them anew no longer tests whether old files can be loaded.
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tests.stored import models, objects, reading, training, translators
from tests.stored.packing import pack, write_json
from tests.stored.project import seqattn

ROOT = Path(__file__).parents[2]
LIBRARY = ("keras_seqattn", "tensorboard_plugin_seqattn", "zoo")


def zoo_models(folder):
    """A `.keras` file for each family and its variants; whole weights of some."""
    found = {}
    for name in models.FAMILIES:
        model = models.enliven(models.zoo_model(name))
        model.save(folder / f"{name}.keras")
        found[name] = models.logits(model)
        if name in models.WEIGHTS:
            model.save_weights(folder / f"{name}.weights.h5")
    for name, change in models.CHANGES.items():
        model = change()
        model.save(folder / f"{name}.keras")
        found[name] = models.logits(model)
    np.savez(folder / "logits.npz", **found)


def layers(folder):
    """Configuration, weights and results of every row of the contract."""
    made = {name: row.make() for name, row in models.LAYERS.items()}
    configs = {n: keras.saving.serialize_keras_object(x) for n, x in made.items()}
    holder = models.Holder({n: models.build(x, n) for n, x in made.items()})
    models.enliven(holder)
    holder.save_weights(folder / "layers.weights.h5")
    write_json(folder / "configs.json", configs)
    found = {}
    for name, layer in made.items():
        for i, array in enumerate(models.results(layer, name)):
            found[f"{name}/{i}"] = array
    np.savez(folder / "results.npz", **found)


def registered(folder):
    found, described = {}, keras.saving.serialize_keras_object
    for name, thing in objects.objects().items():
        found[name] = {"object": described(thing), "numbers": objects.numbers(thing)}
    write_json(folder / "objects.json", found)
    names = [n for n in keras.saving.get_custom_objects() if "keras_seqattn>" in n]
    write_json(folder / "names.json", sorted(names))


def in_training(folder):
    """Compiled models after two steps, and what the third step gives when loaded.

    A file has no seeds: what is drawn begins again.
    """
    found = {}
    for name, model in training.compiled().items():
        for _ in range(2):
            training.step(model)
        model.save(folder / f"{name}.keras")
        model = keras.models.load_model(folder / f"{name}.keras")
        found[name] = training.third_step(model)
    write_json(folder / "third_step.json", found)


def texts(folder):
    """Text processors and translators in folders; a cache of encoded pairs."""
    made = translators.processors()
    for name, processor in made.items():
        processor.save(folder / "processors" / name)
    encoded = {name: translators.encoded(x) for name, x in made.items()}
    write_json(folder / "encoded.json", encoded)
    translators.write_cache(folder / "cache.npz", made["words"])
    found = translators.translators()
    for name, translator in found.items():
        translator.save(folder / "translators" / name)
    found["words"].pipeline.shortlist.save(folder / "shortlist.npz")
    said = {name: translators.said(translator) for name, translator in found.items()}
    write_json(folder / "said.json", said)


def exported(folder):
    found = translators.translators()
    found["words"].export(folder / "saved_model", weights="int8")
    found["characters"].export_litert(folder / "characters.tflite", 20, 9)
    served = reading.answers_of(folder / "saved_model")
    write_json(folder / "saved_model.json", served)
    on_devices = reading.litert_answers(folder / "characters.tflite")
    write_json(folder / "litert.json", on_devices)


def run(folder):
    """The folder of a run of two epochs, and what a third one gives."""
    with contextlib.chdir(folder):
        command = [*training.COMMAND, "--epochs", "2", "--out", "run"]
        if seqattn(command):
            raise SystemExit(f"seqattn {' '.join(command)} has failed")
    write_json(folder / "log.json", reading.shown(folder / "run/logs"))
    copy = shutil.copytree(folder / "run", folder / "copy")
    write_json(folder / "resumed.json", training.resumed(copy))
    shutil.rmtree(copy)


PARTS = (zoo_models, layers, registered, in_training, texts, exported, run)


def write(path):
    about = written()
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise SystemExit(
            "tests.stored.write got a folder with files. Expected a new one, received "
            f"{str(path)!r}. Files that are stored are kept: choose another folder."
        )
    for part in PARTS:
        keras.utils.set_random_seed(models.SEED)
        with tempfile.TemporaryDirectory() as folder:
            part(Path(folder))
            pack(Path(folder), path / f"{part.__name__}.zip")
    write_json(path / "written.json", about)


def written():
    """Which code writes the files: the last commit that has changed it."""
    if changed := _git("status", "--porcelain", "--", *LIBRARY):
        raise SystemExit(
            "tests.stored.write got code that no commit has. Expected none of "
            f"{', '.join(LIBRARY)} changed, received {changed!r}. Commit it first."
        )
    commit = _git("log", "-1", "--format=%H", "--", *LIBRARY)
    return {"commit": commit, "keras": keras.__version__, "tensorflow": tf.__version__}


def _git(*command):
    return subprocess.check_output(["git", *command], cwd=ROOT, text=True).strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
