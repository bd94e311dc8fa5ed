"""A translator with a shortlist: kept, loaded, exported."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.serving.model import ServedModel
from tests.translator import tiny


@pytest.fixture(scope="module")
def short():
    """All that it says has one of three characters."""
    source, target = tiny.texts()
    pairs = ks.data.encode(tiny.PAIRS, source, target)
    model = tiny.model(source, target)
    shortlist = ks.decoding.Shortlist.learn(model, pairs, per_token=1, common=0, size=7)
    return ks.Translator(
        model, source, target, ks.Greedy(), max_length=7, shortlist=shortlist
    )


def test_kept_and_loaded(short, tmp_path):
    short.save(tmp_path / "short")
    loaded = ks.Translator.load(tmp_path / "short")
    assert loaded.pipeline.shortlist == short.pipeline.shortlist
    assert loaded.with_search(tiny.BEAM).pipeline.shortlist is not None
    found = loaded.translate(tiny.SOURCES)
    assert found.texts == short.translate(tiny.SOURCES).texts
    ids = short.pipeline.shortlist.ids(short.pipeline.encode(tiny.SOURCES).ids)
    said = short.pipeline(tiny.SOURCES).target_tokens
    assert np.isin(said, [*short.target_text.pieces(ids).numpy(), b""]).all()
    without = ks.Translator(short.model, *tiny.texts(), ks.Greedy(), max_length=7)
    assert found.scores != without.translate(tiny.SOURCES).scores


@pytest.mark.slow
def test_exported(short, tmp_path):
    short.export(tmp_path / "model")
    served = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    found, expected = served(tf.constant(tiny.SOURCES)), short.pipeline(tiny.SOURCES)
    np.testing.assert_array_equal(found["text"], expected.texts[:, 0])
    np.testing.assert_allclose(found["score"], expected.scores[:, 0], atol=1e-5)
    model = ServedModel(tmp_path / "model")  # answers depend on their batch
    assert not any(signature.is_shared for signature in model.signatures.values())


def test_what_is_no_shortlist(short):
    with pytest.raises(ValueError, match="Translator got an unusable shortlist"):
        ks.Translator(short.model, *tiny.texts(), shortlist=[[1]])
    other = ks.decoding.Shortlist([[-1]], range(9))
    with pytest.raises(ValueError, match="Shortlist does not fit the model"):
        ks.Translator(short.model, *tiny.texts(), shortlist=other)


def test_what_litert_cannot(short, tmp_path):
    with pytest.raises(ValueError, match="got a shortlist, which LiteRT does not"):
        short.export_litert(tmp_path / "model.tflite", 9, 9)
