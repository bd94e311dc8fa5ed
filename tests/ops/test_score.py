import numpy as np
import pytest

from keras_seqattn.ops import score
from tests.oracles import scores as oracle

RANDOM = np.random.default_rng(0)
VALUE = RANDOM.normal(size=(2, 5, 6))
QUERY = RANDOM.normal(size=(2, 3, 4))
W, U = RANDOM.normal(size=(4, 8)), RANDOM.normal(size=(6, 8))
V, BIAS = RANDOM.normal(size=8), RANDOM.normal(size=8)


def each_target(score_of_one):
    """The oracle's scores of one query per row, for every target position."""
    return np.stack([score_of_one(QUERY[:, t], VALUE) for t in range(3)], axis=1)


def assert_scores(function, query, keys, expected, *rest):
    """One step, a whole sequence, a beam of sequences: the same numbers."""
    query, keys = query.astype("float32"), keys.astype("float32")
    rest = [r.astype("float32") if isinstance(r, np.ndarray) else r for r in rest]
    whole = function(query, keys, *rest)
    np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-5)
    step = function(query[:, 1], keys, *rest)
    np.testing.assert_allclose(step, expected[:, 1], rtol=1e-5, atol=1e-5)
    beam = function(np.stack([query, query[:, ::-1]], axis=1), keys, *rest)
    np.testing.assert_allclose(beam[:, 0], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(beam[:, 1], expected[:, ::-1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [None, BIAS])
def test_additive(bias):
    b = 0.0 if bias is None else bias
    expected = each_target(
        lambda s, h: oracle.additive(s, h, query_kernel=W, key_kernel=U, v=V, b=b)
    )
    assert_scores(score.additive_score, QUERY @ W, VALUE @ U, expected, V, bias)


def test_additive_with_keys_for_every_query():
    keys = RANDOM.normal(size=(2, 3, 5, 8)).astype("float32")
    query = (QUERY @ W).astype("float32")
    received = score.additive_score(query, keys, V.astype("float32"))
    for t in range(3):
        single = score.additive_score(query[:, t], keys[:, t], V.astype("float32"))
        np.testing.assert_allclose(received[:, t], single, rtol=1e-5, atol=1e-5)


def test_normalized_v():
    expected = each_target(
        lambda s, h: oracle.additive(s, h, query_kernel=W, key_kernel=U, v=V, g=0.5)
    )
    v = np.asarray(score.normalized_v(V.astype("float32"), 0.5))
    assert_scores(score.additive_score, QUERY @ W, VALUE @ U, expected, v)


@pytest.mark.parametrize("factor", [None, 0.3])
def test_dot(factor):
    expected = each_target(
        lambda s, h: oracle.projected_dot(
            s, h, query_kernel=W, key_kernel=U, factor=factor or 1.0
        )
    )
    assert_scores(score.dot_score, QUERY @ W, VALUE @ U, expected, factor)


def test_one_layer():
    w = RANDOM.normal(size=10)
    expected = each_target(lambda s, h: oracle.one_layer(s, h, w=w))
    query, keys = QUERY @ w[:4, None], VALUE @ w[4:, None]
    assert_scores(score.one_layer_score, query, keys, expected)


@pytest.mark.parametrize("maximum", [3, 5, 9])
def test_location(maximum):
    kernel = RANDOM.normal(size=(4, maximum))
    received = score.location_score((QUERY @ kernel).astype("float32"), 5)
    kept = min(maximum, 5)
    for t in range(3):
        expected = oracle.location(QUERY[:, t], VALUE, kernel=kernel)
        np.testing.assert_allclose(received[:, t, :kept], expected[:, :kept], atol=1e-5)
    assert np.all(received[..., kept:] < -1e8)  # beyond the size of W_a


def test_multi_head_additive():
    w, u, v = W.reshape(4, 2, 4), U.reshape(6, 2, 4), V.reshape(2, 4)
    expected = np.stack(
        [
            oracle.multi_head_additive(
                QUERY[:, t], VALUE, query_kernel=w, key_kernel=u, v=v
            )
            for t in range(3)
        ],
        axis=1,
    )  # [batch, target, heads, source]
    query = np.einsum("btq,qhu->bthu", QUERY, w).astype("float32")
    keys = np.einsum("bsm,mhu->bshu", VALUE, u).astype("float32")
    v = v.astype("float32")
    whole = score.multi_head_additive_score(query, keys, v)
    np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-5)
    step = score.multi_head_additive_score(query[:, 1], keys, v)
    np.testing.assert_allclose(step, expected[:, 1], rtol=1e-5, atol=1e-5)
    beam = score.multi_head_additive_score(np.stack([query] * 2, axis=1), keys, v)
    np.testing.assert_allclose(beam[:, 1], expected, rtol=1e-5, atol=1e-5)
