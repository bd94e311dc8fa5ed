"""Keras's own quantisation: quantised, saved, loaded, it translates as before."""

import gc
import warnings

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import zoo
from tests.export import models
from tests.zoo.rows import NAMES

OPTIONS = {"caglayan2017": {"tied": "all"}, "luong2015": {"window": "local-p"}}
QUICK = "bahdanau2015", "caglayan2017"  # layer by layer: the contract
SENTENCES = models.sentences(6)
TEXT = ks.text.Characters.learn(SENTENCES)


def translator(name, **options):
    """One vocabulary for both sides: some models tie their embeddings."""
    size = TEXT.vocabulary_size
    sizes = {"source_vocabulary": size, "target_vocabulary": size}
    model = getattr(zoo, name)("small", **sizes, **options)
    models.enliven(model)
    return ks.Translator(model, TEXT, TEXT, ks.Greedy(), max_length=5)


def quantized(translator):
    gc.freeze()  # Keras collects garbage after every layer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        translator.model.quantize("int8")
    gc.unfreeze()
    return translator


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES],
)
def test_saved_and_loaded(name, tmp_path):
    made = quantized(translator(name, **OPTIONS.get(name, {})))
    expected = made(SENTENCES)
    made.save(tmp_path / "small")
    loaded = ks.Translator.load(tmp_path / "small")
    kinds = [variable.dtype for variable in made.model.variables]
    assert [variable.dtype for variable in loaded.model.variables] == kinds
    assert kinds.count("int8") > 4
    found = loaded(SENTENCES)
    assert found.texts == expected.texts and len(set(found.texts)) > 1
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.alignment, other.alignment, atol=1e-5)


def test_embeddings_and_products_are_int8():
    """Keras's own recurrent cells stay float32: an export stores them in int8, too."""
    made = translator("bahdanau2015")
    before = sum(weight.nbytes for weight in made.model.get_weights())
    quantized(made)
    assert sum(weight.nbytes for weight in made.model.get_weights()) < 0.75 * before
    large = [v for v in made.model.variables if len(v.shape) > 1 and v.dtype != "int8"]
    assert {"encoder" in variable.path for variable in large} == {True}
