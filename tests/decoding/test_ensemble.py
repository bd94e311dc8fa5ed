"""Ensembles: several models that decode together."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import TableModel, log_probs, tables
from tests.decoding.real_models import SOURCE, known, seq2seq

LIMIT = 6
SEARCH = ks.BeamSearch(4, n_best=3, length_penalty=0.6, coverage_penalty=0.2)


class Other(TableModel):
    """The second model, which reads the second table of the source."""

    def start(self, source):
        renamed = {"table": source["other_table"], "look": source["other_look"]}
        return super().start({**renamed, "mask": source["mask"]})


MODELS = [TableModel(), Other()]


def two_tables(seed=1):
    source, other = tables(seed), tables(seed + 100)
    look = other["look"] * source["mask"][:, None]
    return {**source, "other_table": other["table"], "other_look": look}


def combined(source, combine, weights):
    """Return a source with the mean of both distributions, computed by NumPy."""
    weights = np.array(weights, "float64") / np.sum(weights)
    both = [log_probs(source[name]) for name in ("table", "other_table")]
    looks = source["look"], source["other_look"]
    if combine == "linear":
        table = np.log(sum(w * np.exp(x) for w, x in zip(weights, both, strict=True)))
    else:
        table = log_probs(sum(w * x for w, x in zip(weights, both, strict=True)))
    look = sum(w * x for w, x in zip(weights, looks, strict=True))
    return {"table": table, "look": look, "mask": source["mask"]}


@pytest.mark.parametrize("weights", [None, [3, 1]], ids=["equal", "3:1"])
@pytest.mark.parametrize("combine", ["linear", "log_linear"])
def test_mean_of_two(combine, weights):
    source = two_tables()
    ensemble = ks.decoding.Ensemble(MODELS, combine=combine, weights=weights)
    decoded = ks.decode(ensemble, source, SEARCH, max_length=LIMIT)
    ranks = oracle.Oracle(SEARCH)
    expected = combined(source, combine, weights or [1, 1])
    for row, (table, look, mask) in enumerate(oracle.sentences(expected)):
        best = ranks.run(table, look, mask, LIMIT)[0][: SEARCH.n_best]
        rankings = [ranks.ranking(h, mask, LIMIT) for h in best]
        oracle.check(decoded, row, best, rankings)


@pytest.mark.parametrize("combine", ["linear", "log_linear"])
def test_the_same_model_twice_is_that_model(combine):
    source = tables(2)
    one = ks.decode(MODELS[0], source, SEARCH, max_length=LIMIT)
    ensemble = ks.decoding.Ensemble([MODELS[0]] * 2, combine=combine)
    two = ks.decode(ensemble, source, SEARCH, max_length=LIMIT)
    for name, x, y in zip(one._fields, one, two, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("combine", ["linear", "log_linear"])
def test_a_weight_of_zero_removes_a_model(combine):
    """It may even return logits of -inf or NaN."""
    source = two_tables(3)
    source["other_table"][:, ::2, 3:] = -np.inf
    source["other_table"][:, 1::2] = np.nan
    ensemble = ks.decoding.Ensemble(MODELS, combine=combine, weights=[1, 0])
    decoded = ks.decode(ensemble, source, SEARCH, max_length=LIMIT)
    alone = ks.decode(MODELS[0], source, SEARCH, max_length=LIMIT)
    for name, x, y in zip(alone._fields, alone, decoded, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5, err_msg=name)


def test_a_token_that_one_model_finds_impossible():
    """Log-linear: it stays impossible. Linear: it does not."""
    source = two_tables(4)
    source["other_table"][..., 3] = -np.inf
    for combine, allowed in (("log_linear", False), ("linear", True)):
        ensemble = ks.decoding.Ensemble(MODELS, combine=combine)
        decoded = ks.decode(ensemble, source, SEARCH, max_length=LIMIT)
        assert (decoded.tokens.numpy() == 3).any() == allowed
        assert np.isfinite(decoded.scores).all()


def test_seq2seq_models_search_and_score():
    """The models have different cells, and each has its own state."""
    first, second = known("bahdanau"), seq2seq(cell="bahdanau", seed=8)
    ensemble = ks.decoding.Ensemble([first, second], combine="linear", weights=[2, 1])
    decoded = ks.decode(ensemble, SOURCE, SEARCH, max_length=LIMIT)
    for place in range(SEARCH.n_best):
        tokens = decoded.tokens[:, place]
        scored = ks.decoding.score(ensemble, SOURCE, tokens)
        np.testing.assert_allclose(scored.scores, decoded.scores[:, place], atol=1e-4)
        np.testing.assert_allclose(
            scored.alignments, decoded.alignments[:, place], atol=1e-5
        )
        singles = [
            ks.decoding.score(model, SOURCE, tokens) for model in (first, second)
        ]
        token = np.log(
            2 / 3 * np.exp(singles[0].log_probs) + 1 / 3 * np.exp(singles[1].log_probs)
        )
        np.testing.assert_allclose(scored.log_probs, token, atol=1e-4)


def test_weights_that_change_are_seen():
    models = [seq2seq(seed=1), seq2seq(seed=2)]
    ensemble = ks.decoding.Ensemble(models)
    before = ks.decode(ensemble, SOURCE, ks.Greedy(), max_length=LIMIT)
    models[1].head.projection.kernel.assign_add(
        tf.random.stateless_normal(models[1].head.projection.kernel.shape, [1, 2])
    )
    decoded = ks.decode(ensemble, SOURCE, ks.Greedy(), max_length=LIMIT)
    assert not np.allclose(before.scores, decoded.scores)
    fresh = ks.decode(
        ks.decoding.Ensemble(models), SOURCE, ks.Greedy(), max_length=LIMIT
    )
    np.testing.assert_array_equal(decoded.scores, fresh.scores)
