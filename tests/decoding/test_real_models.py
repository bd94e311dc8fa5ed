"""Searches of `Seq2Seq` models: scores equal those of teacher forcing, and the result
of a sentence depends on nothing else."""

import numpy as np
import pytest

import keras_seqattn as ks
from tests.decoding.real_models import ATTENTIONS, SOURCE, known

LIMIT, N_BEST = 9, 3
SEARCH = ks.BeamSearch(4, n_best=N_BEST, length_penalty=0.6, coverage_penalty=0.1)


@pytest.fixture(params=ATTENTIONS)
def model(request):
    return known(request.param)


def decode(model, source=SOURCE, search=SEARCH, **options):
    return ks.decode(model, source, search, max_length=LIMIT, **options)


def same(decoded, rows, expected, expected_rows, atol=1e-5):
    """Check that two results are equal, up to padding of their axes."""
    target = min(decoded.tokens.shape[-1], expected.tokens.shape[-1])
    source = min(decoded.alignments.shape[-1], expected.alignments.shape[-1])
    for name, one, two in zip(decoded._fields, decoded, expected, strict=True):
        one, two = one.numpy()[rows], two.numpy()[expected_rows]
        if name in ("tokens", "alignments"):
            size = (..., target) if name == "tokens" else (..., target, source)
            cut = tuple(slice(n) for n in size[1:])
            assert not one[(..., *(slice(n, None) for n in size[1:]))].any()
            one, two = one[(..., *cut)], two[(..., *cut)]
        np.testing.assert_allclose(one, two, atol=atol, err_msg=name)


def test_scores_are_teacher_forced(model):
    decoded = decode(model)
    assert len(np.unique(decoded.lengths)) > 1
    for place in range(N_BEST):
        scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, place])
        np.testing.assert_allclose(scored.scores, decoded.scores[:, place], atol=1e-4)
        np.testing.assert_allclose(
            scored.alignments, decoded.alignments[:, place], atol=1e-5
        )
        # The penalties of the whole hypothesis, computed at once.
        expected = decoded.scores[:, place] / ks.decoding.length_penalty(
            decoded.lengths[:, place], 0.6
        )
        looks = scored.alignments.numpy()
        if looks.ndim == 4:
            looks = looks.mean(axis=1)
        expected += ks.decoding.coverage_penalty(looks.sum(axis=1), SOURCE != 0, 0.1)
        np.testing.assert_allclose(decoded.ranking[:, place], expected, atol=1e-4)


def test_order_and_other_sentences_do_not_matter(model):
    together = decode(model)
    order = [2, 0, 3, 1]
    same(decode(model, SOURCE[order]), slice(None), together, order)
    for row in (0, 2):
        same(decode(model, SOURCE[row : row + 1]), [0], together, [row])
    same(decode(model, SOURCE[[2, 2, 0]]), slice(None), together, [2, 2, 0])


def test_padding_does_not_matter(model):
    together = decode(model)
    padded = np.pad(SOURCE, [(0, 0), (0, 5)])
    decoded = decode(model, padded)
    same(decoded, slice(None), together, slice(None))
    assert not decoded.alignments.numpy()[..., 6:].any()
    cut = SOURCE[2:3, :2]  # its own length
    same(decode(model, cut), [0], together, [2])


def test_width_one_is_greedy():
    model = known("coverage")
    one = decode(model, search=ks.BeamSearch(1))
    same(one, slice(None), decode(model, search=ks.Greedy()), slice(None))


@pytest.mark.parametrize(
    "search", [ks.Greedy(), ks.decoding.Sample(n_best=2, seed=1)], ids=type
)
def test_scores_of_other_searches(search):
    model = known("coverage")
    decoded = decode(model, search=search)
    for place in range(search.n_best):
        scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, place])
        np.testing.assert_allclose(scored.scores, decoded.scores[:, place], atol=1e-4)
        np.testing.assert_allclose(
            scored.alignments, decoded.alignments[:, place], atol=1e-5
        )


def test_scores_count_the_prefix():
    model = known("bahdanau")
    prefix = np.array([[7, 7, 8], [4, 0, 0], [0, 0, 0], [11, 3, 0]])
    decoded = decode(model, prefix=prefix)
    for place in range(N_BEST):
        tokens = decoded.tokens[:, place].numpy()
        real = prefix != 0
        np.testing.assert_array_equal(tokens[:, :3][real], prefix[real])
        scored = ks.decoding.score(model, SOURCE, tokens)
        np.testing.assert_allclose(scored.scores, decoded.scores[:, place], atol=1e-4)
    free = decode(model)
    same(decoded, [2], free, [2])


def test_score_of_a_token_at_a_time():
    """`log_probs` are log-softmax values of the tokens, and zero in the padding."""
    model = known("bahdanau")
    target = np.array([[7, 8, 2], [4, 2, 0], [9, 9, 9], [2, 0, 0]])
    scored = ks.decoding.score(model, SOURCE, target)
    fed = np.concatenate([np.ones([4, 1], int), target[:, :-1]], axis=1)
    fed[fed == 2] = 0
    logits = np.asarray(model({"source": SOURCE, "target": fed}), "float64")
    softmax = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    expected = np.log(np.take_along_axis(softmax, target[..., None], -1)[..., 0])
    expected = np.where(target != 0, expected, 0.0)
    np.testing.assert_allclose(scored.log_probs, expected, atol=1e-4)
    np.testing.assert_allclose(scored.scores, expected.sum(axis=1), atol=1e-4)
    assert not scored.alignments.numpy()[target == 0].any()
    np.testing.assert_allclose(
        scored.alignments.numpy().sum(-1), target != 0, atol=1e-5
    )


def test_other_special_tokens():
    """With start 5 and end 7, the ids 1 and 2 are words."""
    model, tokens = known("bahdanau"), ks.types.SpecialTokens(pad=0, start=5, end=7)
    decoded = ks.decode(model, SOURCE, ks.Greedy(), LIMIT, tokens=tokens)
    chosen = decoded.tokens[:, 0].numpy()
    assert not (chosen == 5).any() and ((chosen == 7).sum(axis=-1) <= 1).all()
    scored = ks.decoding.score(model, SOURCE, chosen, tokens=tokens)
    np.testing.assert_allclose(scored.scores, decoded.scores[:, 0], atol=1e-4)
