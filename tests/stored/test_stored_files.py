"""Files that older code has written are loaded, and mean what they meant.

`written.json` names the commit that has written them: see `tests/stored/write.py`.
"""

import copy
import functools
import json
import shutil

import keras
import numpy as np
import pytest

from tests.stored import models, objects, reading, training, translators
from tests.stored.comparing import differences
from tests.stored.packing import FILES, read_arrays, read_json, stems, unpack
from tests.stored.project import Shortlist, TextProcessor, Translator
from tests.trials.fingerprints import history

# What the roundings of other processors make of logits.
ROUNDED = {"int8": 0.02, "bfloat16": 0.1}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    @functools.cache
    def unpacked(name):
        return unpack(name, tmp_path_factory.mktemp(name))

    return unpacked


def assert_same(found, expected, tolerance=1e-5):
    assert not differences(found, expected, tolerance)


@pytest.mark.parametrize("name", stems("zoo_models", ".keras"))
def test_model(name, stored):
    folder = stored("zoo_models")
    model = keras.models.load_model(folder / f"{name}.keras")
    assert_logits(model, name, folder)


@pytest.mark.parametrize("name", models.WEIGHTS)
def test_weights(name, stored):
    folder = stored("zoo_models")
    model = models.zoo_model(name)
    model.load_weights(folder / f"{name}.weights.h5")
    assert_logits(model, name, folder)


def assert_logits(model, name, folder):
    expected, found = read_arrays(folder / "logits.npz")[name], models.logits(model)
    np.testing.assert_allclose(found, expected, 1e-5, ROUNDED.get(name, 1e-5))
    if name not in ROUNDED:
        np.testing.assert_array_equal(found.argmax(-1), expected.argmax(-1))


@pytest.fixture(scope="module")
def layers(stored):
    """All layers of the contract, from their configurations, with their weights."""
    configs = read_json(stored("layers") / "configs.json")
    missing = sorted(configs.keys() - models.LAYERS.keys())
    assert not missing, f"no rows for the arguments of {missing}"
    made = {n: keras.saving.deserialize_keras_object(c) for n, c in configs.items()}
    holder = models.Holder({n: models.build(x, n) for n, x in made.items()})
    holder.load_weights(stored("layers") / "layers.weights.h5")
    return made


def test_layers(layers, stored):
    expected = read_arrays(stored("layers") / "results.npz")
    for name, layer in layers.items():
        for i, found in enumerate(models.results(layer, name)):
            wanted = expected.pop(f"{name}/{i}")
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-5, err_msg=name)
    assert not expected


@pytest.mark.parametrize("name", stems("in_training", ".keras"))
def test_training_goes_on(name, stored):
    folder = stored("in_training")
    model = keras.models.load_model(folder / f"{name}.keras")
    expected = read_json(folder / "third_step.json")[name]
    assert_same(training.third_step(model), expected, 1e-4)


@pytest.mark.system
def test_run_goes_on(stored, tmp_path):
    """Two epochs were trained by older code, the third one is trained now."""
    folder = stored("run")
    run = shutil.copytree(folder / "run", tmp_path / "run")
    before = history(run)
    expected = read_json(folder / "resumed.json")
    found = training.resumed(run)
    assert found["history"][:2] == before == expected["history"][:2]
    assert_same(found, expected, 1e-4)


def test_registered_names_and_objects(stored):
    # Every class is still found by the name that files have.
    for name in read_json(stored("registered") / "names.json"):
        found = keras.saving.get_registered_object(name)
        assert found is not None, f"{name} is in files, and no class has this name"
        assert found.__name__ == name.partition(">")[2]
    # Every option is read, and they compute what they did.
    for name, expected in read_json(stored("registered") / "objects.json").items():
        described = copy.deepcopy(expected["object"])  # Keras writes into what it reads
        thing = keras.saving.deserialize_keras_object(described)
        found = json.loads(json.dumps(objects.described(thing)))
        assert found == objects.without_module(expected["object"]), name
        assert_same({name: objects.numbers(thing)}, {name: expected["numbers"]})


@pytest.mark.parametrize("name", "characters words word_piece unigram bpe".split())
def test_processor(name, stored):
    processor = TextProcessor.load(stored("texts") / "processors" / name)
    expected = read_json(stored("texts") / "encoded.json")[name]
    assert_same(translators.encoded(processor), expected)


def test_cache(stored, tmp_path):
    """It is read: a cache of other texts would be written anew."""
    path = shutil.copy(stored("texts") / "cache.npz", tmp_path)
    words = TextProcessor.load(stored("texts") / "processors/words")
    with np.load(path) as file:
        expected = [file[f"{side}_values"].tolist() for side in ("source", "target")]
    before = (tmp_path / "cache.npz").stat()
    assert translators.write_cache(path, words) == expected
    after = (tmp_path / "cache.npz").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("name", ["words", "characters", "subwords"])
def test_translator(name, stored):
    folder = stored("texts")
    translator = Translator.load(folder / "translators" / name)
    found = translators.said(translator)
    expected = read_json(folder / "said.json")[name]
    blank = translators.TEXTS.index("")  # older code had no empty translation
    assert found.pop(blank)["score"] == 0.0 > expected.pop(blank)["score"]
    assert_same(found, expected, 1e-4)


def test_shortlist(stored):
    shortlist = Shortlist.load(stored("texts") / "shortlist.npz")
    translator = Translator.load(stored("texts") / "translators/words")
    assert shortlist == translator.pipeline.shortlist
    assert (shortlist.common, shortlist.size, shortlist.table.shape[1]) == (2, 8, 2)


READ = [
    (reading.answers_of, "exported", "saved_model", "saved_model.json", 1e-4),
    (reading.litert_answers, "exported", "characters.tflite", "litert.json", 1e-4),
    (reading.shown, "run", "run/logs", "log.json", 1e-5),  # in TensorBoard
]


@pytest.mark.parametrize("read, part, name, answers, tolerance", READ)
def test_others_read_the_same(stored, read, part, name, answers, tolerance):
    folder = stored(part)
    assert_same(read(folder / name), read_json(folder / answers), tolerance)


def test_written():
    """By which code; and that the files stay small."""
    written = read_json(FILES / "written.json")
    assert len(written["commit"]) == 40
    assert sum(path.stat().st_size for path in FILES.iterdir()) < 1.5e6
