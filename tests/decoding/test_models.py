"""Searches of `Seq2Seq` models and of ensembles: scores equal those of teacher forcing,
and the result of a sentence depends on nothing else."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding import oracle
from tests.decoding.fakes import MODEL, TableModel, log_probs, tables
from tests.decoding.real_models import ATTENTIONS, SOURCE, known, seq2seq
from tests.decoding.results import assert_same, check_scores, forced_log_probs

LIMIT = 6
RAGGED = tf.RaggedTensor.from_tensor(SOURCE, padding=0)
SEARCH = ks.BeamSearch(4, n_best=3, length_penalty=0.6, coverage_penalty=0.2)


class Other(TableModel):
    def start(self, source):
        renamed = {"table": source["other_table"], "look": source["other_look"]}
        return super().start({**renamed, "mask": source["mask"]})


MODELS = [MODEL, Other()]


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
    mean = combined(source, combine, weights or [1, 1])
    oracle.check_all(decoded, SEARCH, mean, LIMIT)


@pytest.mark.parametrize("combine", ["linear", "log_linear"])
@pytest.mark.parametrize(
    "models, weights",
    [([MODEL] * 2, None), (MODELS, [1, 0])],
    ids=["the same twice", "the second has no weight"],
)
def test_the_result_is_that_of_the_first_model(models, weights, combine):
    """With NaN, too: such a token is impossible, others are not."""
    source = two_tables(3)
    source["table"][..., 4] = np.nan
    source["other_table"][:, ::2, 3:] = -np.inf
    source["other_table"][:, 1::2] = np.nan
    ensemble = ks.decoding.Ensemble(models, combine=combine, weights=weights)
    decoded = ks.decode(ensemble, source, SEARCH, max_length=LIMIT)
    assert_same(decoded, ks.decode(MODEL, source, SEARCH, max_length=LIMIT))
    assert np.all(decoded.lengths > 0)


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
    models = [known("bahdanau"), seq2seq(cell="bahdanau", seed=8)]
    ensemble = ks.decoding.Ensemble(models, combine="linear", weights=[2, 1])
    decoded = ks.decode(ensemble, SOURCE, SEARCH, max_length=LIMIT)
    for place in range(SEARCH.n_best):
        scored = check_scores(ensemble, decoded, place)
        tokens = decoded.tokens[:, place]
        scores = [ks.decoding.score(model, SOURCE, tokens) for model in models]
        one, other = (np.exp(score.log_probs) for score in scores)
        expected = np.log(2 / 3 * one + 1 / 3 * other)
        np.testing.assert_allclose(scored.log_probs, expected, atol=1e-4)


def test_weights_that_change_are_seen():
    models = [known("bahdanau"), seq2seq(seed=2)]
    ensemble = ks.decoding.Ensemble(models)
    before = ks.decode(ensemble, SOURCE, ks.Greedy(), max_length=LIMIT)
    kernel = models[1].head.projection.kernel
    kernel.assign_add(tf.random.stateless_normal(kernel.shape, [1, 2]))
    after = ks.decode(ensemble, SOURCE, ks.Greedy(), max_length=LIMIT)
    assert not np.allclose(before.scores, after.scores)
    check_scores(ensemble, after)


@pytest.fixture(params=ATTENTIONS)
def model(request):
    return known(request.param)


def decode(model, source=SOURCE, search=SEARCH, **options):
    return ks.decode(model, source, search, max_length=9, **options)


def test_scores_are_teacher_forced_and_other_sentences_do_not_matter(model):
    decoded = decode(model)
    assert len(np.unique(decoded.lengths)) > 1
    for place in range(SEARCH.n_best):
        looks = check_scores(model, decoded, place).alignments.numpy()
        if looks.ndim == 4:
            looks = looks.mean(axis=1)
        # The penalties of the whole hypothesis, computed at once.
        lengths, scores = decoded.lengths[:, place], decoded.scores[:, place]
        expected = scores / ks.decoding.length_penalty(lengths, 0.6)
        expected += ks.decoding.coverage_penalty(looks.sum(axis=1), SOURCE != 0, 0.2)
        np.testing.assert_allclose(decoded.ranking[:, place], expected, atol=1e-4)
    together, order = decode(model), [2, 2, 0, 3, 1]
    padded = np.pad(SOURCE, [(0, 0), (0, 5)])
    decoded = decode(model, padded[order])
    assert_same(decoded, together, rows=order)
    assert not decoded.alignments.numpy()[..., 6:].any()
    for row, size in ((0, 6), (2, 2)):  # alone, without padding
        alone = decode(model, SOURCE[row : row + 1, :size])
        assert_same(alone, together, rows=[row])


def test_scores_count_the_prefix_which_may_have_no_columns():
    model = known("bahdanau")
    prefix = np.array([[7, 7, 8], [4, 0, 0], [0, 0, 0], [11, 3, 0]])
    decoded = decode(model, prefix=prefix)
    for place in range(SEARCH.n_best):
        tokens = decoded.tokens[:, place, :3].numpy()
        np.testing.assert_array_equal(tokens[prefix != 0], prefix[prefix != 0])
        check_scores(model, decoded, place)
    assert_same(decode(model, SOURCE[2:3]), decoded, rows=[2])
    model, nothing = known("bahdanau"), np.zeros([len(SOURCE), 0], int)
    for source in (SOURCE.tolist(), RAGGED):
        received = decode(model, source, prefix=nothing)
        assert_same(received, decode(model), atol=1e-6)


def test_score_of_a_token_at_a_time():
    """`log_probs` are log-softmax values of the tokens, and zero in the padding."""
    model = known("bahdanau")
    target = np.array([[7, 8, 2], [4, 2, 0], [9, 9, 9], [2, 0, 0]])
    scored = ks.decoding.score(model, RAGGED, target)
    expected = forced_log_probs(model, target)
    np.testing.assert_allclose(scored.log_probs, expected, atol=1e-4)
    np.testing.assert_allclose(scored.scores, expected.sum(axis=1), atol=1e-4)
    sums = scored.alignments.numpy().sum(axis=-1)
    np.testing.assert_allclose(sums, target != 0, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{"start": 5, "end": 7}, {"start": 2, "end": 2}, {"pad": 5}],
    ids=["other words", "one id starts and ends", "another padding"],
)
def test_special_tokens(options):
    model, tokens = known("bahdanau"), ks.types.SpecialTokens(**options)
    if tokens.pad != model.pad:
        model = ks.Seq2Seq.from_config({**model.get_config(), "pad": tokens.pad})
    decoded = decode(model, search=ks.Greedy(), tokens=tokens)
    check_scores(model, decoded, tokens=tokens)
    chosen = decoded.tokens.numpy()
    assert ((chosen == tokens.end).sum(axis=-1) <= 1).all()
    assert tokens.start == tokens.end or not (chosen == tokens.start).any()
