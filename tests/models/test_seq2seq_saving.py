"""Saved and loaded models have the same weights and the same ties."""

import warnings

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.decoding.real_models import SOURCE, seq2seq
from tests.models.seq2seq_cases import INPUTS, TARGET, array, tied


def reloaded(model, tmp_path):
    model.save(tmp_path / "model.keras")
    return keras.models.load_model(tmp_path / "model.keras")


def same_bits(one, other):
    for x, y in zip(keras.tree.flatten(one), keras.tree.flatten(other), strict=True):
        np.testing.assert_array_equal(
            np.asarray(x).view("uint8"), np.asarray(y).view("uint8")
        )


def test_save_and_load(model, tmp_path):
    loaded = reloaded(model, tmp_path)
    assert type(loaded) is ks.Seq2Seq
    paths = [[v.path for v in m.trainable_variables] for m in (model, loaded)]
    assert paths[0] == paths[1]
    assert len(loaded.variables) == len(model.variables)
    same_bits(
        model(INPUTS, return_attention_scores=True),
        loaded(INPUTS, return_attention_scores=True),
    )
    assert loaded.get_config() == model.get_config()
    np.testing.assert_array_equal(loaded(INPUTS)._keras_mask, TARGET != 0)


@pytest.mark.parametrize("ways", [2, 3])
def test_ties_survive(ways, tmp_path):
    model = tied(ways)
    loaded = reloaded(model, tmp_path)
    assert loaded.head.embedding is loaded.target_embedding
    assert (loaded.source_embedding is loaded.target_embedding) == (ways == 3)
    assert len(loaded.variables) == len(model.variables)
    assert loaded.count_params() == model.count_params()
    same_bits(model(INPUTS), loaded(INPUTS))
    again = ks.Seq2Seq.from_config(loaded.get_config())
    assert again.head.embedding is again.target_embedding


@pytest.mark.parametrize("make", [seq2seq, lambda: tied(3)], ids=["plain", "tied"])
def test_quantised_and_saved(make, tmp_path):
    model = make()
    full = array(model(INPUTS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    small = array(model(INPUTS))
    assert not np.array_equal(full, small)
    assert np.abs(full - small).max() < 0.2 * np.abs(full).max()
    loaded = reloaded(model, tmp_path)
    assert [v.dtype for v in loaded.variables] == [v.dtype for v in model.variables]
    assert "int8" in {v.dtype for v in loaded.variables}
    same_bits(model(INPUTS), loaded(INPUTS))


def test_decodes_the_same_after_loading(tmp_path):
    model = seq2seq("coverage")
    search = ks.BeamSearch(3, n_best=2, length_penalty=0.6)
    decoded = ks.decode(model, SOURCE, search, max_length=6)
    loaded = reloaded(model, tmp_path)
    same_bits(decoded, ks.decode(loaded, SOURCE, search, max_length=6))
