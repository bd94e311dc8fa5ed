"""What must hold of the oracles whatever the weights: sums, limits, equalities."""

import functools

import numpy as np
import pytest

from tests.oracles import alignment as align
from tests.oracles import attention, cells, scores

BATCH, SOURCE, TARGET, UNITS, DEPTH = 3, 5, 4, 4, 4
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], dtype=bool)
close = functools.partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture
def normal(random):
    return lambda *shape: random.normal(size=shape)


def additive_weights(normal):
    names = {"query_kernel": UNITS, "key_kernel": DEPTH}
    weights = {name: normal(depth, 6) for name, depth in names.items()}
    return weights | {"v": normal(6), "b": normal(6)}


def mechanisms(normal):
    """name -> (mechanism, weights, state)."""
    additive, start = additive_weights(normal), align.first_position(BATCH, SOURCE)
    zeros, heads = np.zeros([BATCH, SOURCE]), [normal(UNITS, 2, 3), normal(DEPTH, 2, 3)]
    position = {"position_kernel": normal(UNITS, 6), "position_v": normal(6)}
    luong = attention.luong
    return {
        "bahdanau": (attention.bahdanau, additive, ()),
        "normed": (attention.bahdanau, additive | {"g": 0.7}, ()),
        "dot": (luong, {}, ()),
        "scaled_dot": (luong, {"score": "scaled_dot", "scale": 0.3}, ()),
        "general": (luong, {"score": "general", "kernel": normal(UNITS, DEPTH)}, ()),
        "concat": (
            luong,
            {"score": "concat", "kernel": normal(UNITS + DEPTH, 6), "v": normal(6)},
            (),
        ),
        "location": (luong, {"score": "location", "kernel": normal(UNITS, 9)}, ()),
        "one_layer": (luong, {"score": "one_layer", "w": normal(UNITS + DEPTH)}, ()),
        "local_m": (attention.local_m, {"window": 1}, np.zeros(BATCH, dtype=int)),
        "local_p": (attention.local_p, {"window": 2} | position, ()),
        "monotonic": (attention.monotonic, additive, start),
        "hard": (attention.monotonic, additive | {"mode": "hard"}, start),
        "coverage": (
            attention.coverage,
            additive | {"coverage_kernel": normal(1, 6)},
            zeros,
        ),
        "location_sensitive": (
            attention.location_sensitive,
            additive | {"filters": normal(3, 1, 2), "location_kernel": normal(2, 6)},
            zeros,
        ),
        "heads": (
            attention.multi_head_additive,
            {"query_kernel": heads[0], "key_kernel": heads[1], "v": normal(2, 3)},
            (),
        ),
    }


NAMES = sorted(mechanisms(lambda *shape: np.zeros(shape)))
SOFTMAX = set(NAMES) - {"local_m", "local_p", "monotonic", "hard"}


def run(normal, name, value, mask):
    """Contexts and alignments of one mechanism over the same TARGET queries."""
    mechanism, weights, state = mechanisms(normal)[name]
    queries = np.random.default_rng(1).normal(size=[BATCH, TARGET, UNITS])
    attend = attention.bind(mechanism, value, mask, **weights)
    return attention.over_targets(attend, queries, state)[:2]


@pytest.mark.parametrize("name", NAMES)
def test_sums_padding_and_empty_rows(normal, name):
    value = normal(BATCH, SOURCE, DEPTH)
    value[~MASK] = np.nan
    contexts, alignments = run(normal, name, value, MASK)
    padding = np.broadcast_to(~MASK[:, None], alignments.shape[:2] + (SOURCE,))
    if name == "heads":
        padding = np.repeat(padding[:, :, None], 2, axis=2)
    assert np.all(alignments[padding] == 0.0)
    assert np.all(contexts[2] == 0.0)
    sums = alignments[:2].sum(axis=-1)
    if name in SOFTMAX:
        close(sums, 1.0)
    assert np.all(sums <= 1.0 + 1e-12) and np.all(alignments >= 0.0)
    assert np.all(np.isfinite(contexts)) and np.any(contexts[1] != 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_padded_row_is_the_trimmed_row(name):
    def normal(*shape):
        return np.random.default_rng(len(shape)).normal(size=shape)

    value = np.random.default_rng(2).normal(size=[BATCH, SOURCE, DEPTH])
    mask = np.tile(MASK[0], [BATCH, 1])
    contexts, alignments = run(normal, name, value, mask)
    mechanism, weights, state = mechanisms(normal)[name]
    state = state[:, :3] if np.ndim(state) == 2 else state
    queries = np.random.default_rng(1).normal(size=[BATCH, TARGET, UNITS])
    attend = attention.bind(mechanism, value[:, :3], None, **weights)
    trimmed = attention.over_targets(attend, queries, state)
    close(contexts, trimmed[0])
    close(alignments[..., :3], trimmed[1])


# Scores that are special cases of each other.


def test_concat_is_additive_with_stacked_kernels(normal):
    s, h, w = normal(2, UNITS), normal(2, SOURCE, DEPTH), additive_weights(normal)
    kernel = np.concatenate([w["query_kernel"], w["key_kernel"]])
    expected = scores.additive(s, h, **w)
    close(scores.concat(s, h, kernel=kernel, v=w["v"], b=w["b"]), expected)


def test_normed_additive_with_g_the_norm_is_plain(normal):
    s, h, w = normal(2, UNITS), normal(2, SOURCE, DEPTH), additive_weights(normal)
    plain = scores.additive(s, h, **w)
    close(scores.additive(s, h, g=np.linalg.norm(w["v"]), **w), plain)
    close(scores.additive(s, h, **w, r=-1.5), plain - 1.5)
    doubled = w | {"v": 2 * w["v"]}
    close(scores.additive(s, h, g=0.3, **doubled), scores.additive(s, h, g=0.3, **w))


def test_products_against_einsum(normal):
    s, h = normal(2, UNITS), normal(2, SOURCE, UNITS)
    q, k = normal(UNITS, 6), normal(UNITS, 6)
    expected = np.einsum("bq,bsq->bs", s, h)
    close(scores.dot(s, h), expected)
    close(scores.scaled_dot(s, h), expected / 2.0)
    close(scores.general(s, h, kernel=np.eye(UNITS)), expected)
    projected = scores.projected_dot(s, h, query_kernel=q, key_kernel=k)
    close(projected, np.einsum("bq,qu,mu,bsm->bs", s, q, k, h))
    close(scores.general(s, h, kernel=q @ k.T), projected)


def test_coverage_and_location_reduce_to_additive(normal):
    s, h, w = normal(2, UNITS), normal(2, SOURCE, DEPTH), additive_weights(normal)
    plain, alpha = scores.additive(s, h, **w), np.abs(normal(2, SOURCE))
    zero = np.zeros_like(alpha)
    w_c = normal(6)
    close(scores.coverage_additive(s, h, zero, coverage_kernel=w_c, **w), plain)
    # A filter of width one and weight one hands on alpha itself: eq. (11).
    close(
        scores.location_sensitive(
            s, h, alpha, filters=np.ones([1, 1]), location_kernel=w_c[None], **w
        ),
        scores.coverage_additive(s, h, alpha, coverage_kernel=w_c, **w),
    )


def test_location_features_do_not_flip_the_filter():
    features = scores.location_features(np.eye(4)[[1]], np.array([[1.0], [2], [3]]))
    np.testing.assert_array_equal(features[0, :, 0], [3.0, 2.0, 1.0, 0.0])


def test_one_head_is_bahdanau(normal):
    w = additive_weights(normal)
    one = {"query_kernel": w["query_kernel"][:, None]}
    one |= {"key_kernel": w["key_kernel"][:, None], "v": w["v"][None]}
    s, h = normal(BATCH, UNITS), normal(BATCH, SOURCE, DEPTH)
    context, alpha, _ = attention.multi_head_additive(s, h, MASK, b=w["b"][None], **one)
    expected = attention.bahdanau(s, h, MASK, **w)
    close(context, expected[0])
    close(alpha[:, 0], expected[1])


def test_value_projection_commutes_with_the_sum(normal):
    s, h = normal(BATCH, UNITS), normal(BATCH, SOURCE, DEPTH)
    kernel = normal(DEPTH, 7)
    projected, alpha, _ = attention.luong(s, h, MASK, value_kernel=kernel)
    close(projected, attention.context_of(alpha, h, MASK) @ kernel)


# Alignments.


def test_softmax_does_not_overflow():
    alpha = align.masked_softmax(np.array([[1e4, 1e4, -1e4]]))
    close(alpha, [[0.5, 0.5, 0.0]])


def test_monotonic_recursion_is_the_sum_over_paths(random):
    p, previous = random.random([4, 6]), random.dirichlet(np.ones(6), size=4)
    got = align.soft_monotonic(p, previous)
    for n in range(4):
        for j in range(6):
            total = sum(  # Raffel et al. 2017, eq. (9)
                previous[n, k] * np.prod(1 - p[n, k:j]) for k in range(j + 1)
            )
            close(got[n, j], p[n, j] * total)
    for n in range(4):  # eq. (10), the form that divides
        for j in range(1, 6):
            ratio = got[n, j - 1] / p[n, j - 1]
            close(got[n, j], p[n, j] * ((1 - p[n, j - 1]) * ratio + previous[n, j]))
    close(align.parallel_monotonic(p, previous), got)


def test_hard_monotonic_is_soft_for_certain_probabilities(random):
    for seed in range(20):
        random = np.random.default_rng(seed)
        mask = random.random([6, 7]) < 0.8
        hard = soft = align.first_position(6, 7)
        for _ in range(4):
            p = (random.random([6, 7]) < 0.4).astype(float)
            hard = align.hard_monotonic(p, hard, mask)
            soft = align.soft_monotonic(p, soft, mask)
            np.testing.assert_array_equal(hard, soft)


def test_hard_monotonic_by_hand():
    p = np.array([[0.9, 0.2, 0.6, 0.7], [0.9, 0.4, 0.3, 0.1], [0.9, 0.9, 0.9, 0.9]])
    previous = np.array([[0, 1.0, 0, 0], [0, 1.0, 0, 0], [0, 0, 0, 0]])
    expected = [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(align.hard_monotonic(p, previous), expected)


def test_parallel_monotonic_loses_mass_under_its_floor():
    p, previous = np.array([[1 - 1e-12, 0.5]]), np.array([[0.0, 1.0]])
    close(align.soft_monotonic(p, previous), [[0.0, 0.5]])
    close(align.parallel_monotonic(p, previous), [[0.0, 0.005]], atol=1e-6)


def test_local_windows_count_from_one():
    e = np.log(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    close(align.local_m(e, [1], 1), [[1 / 3, 2 / 3, 0, 0, 0]])
    close(align.local_m(e, [3], 1), [[0, 2 / 9, 3 / 9, 4 / 9, 0]])
    close(align.local_m(e, [7], 1), np.zeros([1, 5]))
    mask = np.array([[True, True, True, False, False]])
    close(align.local_m(e, [3], 1, mask), [[0, 2 / 5, 3 / 5, 0, 0]])
    # p_t = 2.5, D = 2: positions 1..4, distances 1.5, .5, .5, 1.5, sigma = 1.
    bell = np.exp(-(np.array([1.5, 0.5, 0.5, 1.5]) ** 2) / 2)
    expected = np.append(np.array([1, 2, 3, 4]) / 10 * bell, 0.0)
    close(align.local_p(e, [2.5], 2), expected[None])


def test_local_m_walks_one_position_per_step(normal):
    attend = attention.bind(attention.local_m, normal(1, 5, UNITS), None, window=1)
    _, alphas, t = attention.over_targets(attend, normal(1, 7, UNITS), np.zeros(1))
    near = np.abs(np.arange(1, 6) - np.arange(1, 8)[:, None]) <= 1
    np.testing.assert_array_equal(alphas[0] > 0.0, near)
    np.testing.assert_array_equal(t, [7])


def test_predicted_position_lies_in_the_sentence(normal):
    weights = {"position_kernel": normal(UNITS, 6), "position_v": normal(6)}
    query, length = normal(3, UNITS), np.array([3, 5, 0])
    p = align.predicted_position(query, length, **weights)
    assert np.all(p >= 0) and np.all(p <= length) and p[2] == 0
    weights["position_v"] = np.zeros(6)
    close(align.predicted_position(query, length, **weights), length / 2)


def test_coverage_grows_by_one_per_step(normal):
    weights = additive_weights(normal) | {"coverage_kernel": normal(6)}
    value = normal(BATCH, SOURCE, DEPTH)
    attend = attention.bind(attention.coverage, value, MASK, **weights)
    zeros = np.zeros([BATCH, SOURCE])
    _, alphas, state = attention.over_targets(attend, normal(3, TARGET, UNITS), zeros)
    close(state, alphas.sum(axis=1))
    close(state.sum(axis=1), [TARGET, TARGET, 0])


# Cells.


def test_paper_gru_is_chos_with_the_update_gate_turned_round(normal):
    x, h = normal(3, 2), normal(3, UNITS)
    kernel, recurrent, bias = normal(2, 12), normal(UNITS, 12), normal(12)
    turned = [array.copy() for array in (kernel, recurrent, bias)]
    for array in turned:
        array[..., :UNITS] *= -1.0  # sigmoid(-a) = 1 - sigmoid(a)
    names = ("kernel", "recurrent_kernel", "bias")
    close(
        cells.gru_paper(x, h, kernel=kernel, recurrent_kernel=recurrent, bias=bias),
        cells.gru_reset_before(x, h, **dict(zip(names, turned, strict=True))),
    )


def test_half_precision_weights_are_raised_to_float64(normal):
    x, h, kernel = normal(3, 2), normal(3, UNITS), normal(2, UNITS).astype("float16")
    got = cells.simple(
        x.astype("float32"), h, kernel=kernel, recurrent_kernel=np.eye(4)
    )
    assert got.dtype == "float64"
