"""Compiled functions of a model see new weights, and are deleted with the model."""

import dataclasses
import gc
import warnings
import weakref
from typing import Any

import keras
import numpy as np

import keras_seqattn as ks
from tests.decoding.fakes import TableModel, tables
from tests.decoding.real_models import SOURCE, VOCABULARY, seq2seq

LIMIT = 6


def decode(model):
    return ks.decode(model, SOURCE, ks.BeamSearch(3), max_length=LIMIT)


def eager_scores(model, decoded):
    """Return the scores of the first hypotheses, without compiled functions."""
    target = decoded.tokens.numpy()[:, 0]
    fed = np.concatenate([np.ones([len(target), 1], int), target[:, :-1]], axis=1)
    fed[fed == 2] = 0
    logits = model({"source": SOURCE, "target": fed})
    logs = keras.ops.log_softmax(keras.ops.cast(logits, "float32"))
    chosen = np.take_along_axis(np.asarray(logs), target[..., None], axis=-1)[..., 0]
    return np.where(target != 0, chosen, 0.0).sum(axis=1)


def check(model, also_score=False):
    decoded = decode(model)
    expected = eager_scores(model, decoded)
    np.testing.assert_allclose(decoded.scores[:, 0], expected, atol=1e-4)
    if not also_score:
        return decoded
    scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, 0])
    np.testing.assert_allclose(scored.scores, expected, atol=1e-4)
    return decoded


def test_weights_of_fit_are_seen():
    model = seq2seq()
    before = check(model, also_score=True)
    target = np.random.default_rng(1).integers(3, VOCABULARY, (4, 5))
    model.compile(
        keras.optimizers.SGD(0.5),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    model.fit({"source": SOURCE, "target": target}, target, epochs=2, verbose=0)
    assert not np.allclose(before.scores, check(model, also_score=True).scores)


def test_quantised_weights_are_seen():
    """The old graph would still use the variables before the quantisation."""
    model = seq2seq()
    before = check(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    after = check(model)
    assert not np.array_equal(before.scores, after.scores)


def test_a_model_can_be_collected():
    for make in (seq2seq, TableModel, lambda: ks.decoding.Ensemble([seq2seq()])):
        model = make()
        source = tables(1) if isinstance(model, TableModel) else SOURCE
        ks.decode(model, source, ks.BeamSearch(2), max_length=LIMIT)
        if isinstance(model, ks.Seq2Seq):
            ks.decoding.score(model, source, np.array([[5, 2]] * len(source)))
        gone = weakref.ref(model)
        del model
        gc.collect()
        assert gone() is None, make


def test_two_models_do_not_share_a_graph():
    one, other = seq2seq(seed=1), seq2seq(seed=2)
    assert not np.allclose(check(one).scores, check(other).scores)


@dataclasses.dataclass
class Unhashable(TableModel):
    """A model that is compared by value, so it has no hash."""

    name: Any = "mine"


def test_a_model_without_a_hash():
    source = tables(1)
    decoded = ks.decode(Unhashable(), source, ks.Greedy(), max_length=LIMIT)
    expected = ks.decode(TableModel(), source, ks.Greedy(), max_length=LIMIT)
    np.testing.assert_array_equal(decoded.tokens, expected.tokens)
