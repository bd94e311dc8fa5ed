"""The oracles against stock Keras cells, against each other, and by hand.

Published numbers are compared with the layers, in tests/goldens.
"""

import functools

import numpy as np
import pytest

from tests.oracles import alignment as align
from tests.oracles import attention, cells, decoders, encoders, scores

BATCH, SOURCE, TARGET, UNITS, DEPTH = 3, 5, 4, 4, 4
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], dtype=bool)
close = functools.partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


@pytest.fixture
def normal():
    random = np.random.default_rng(7)
    return lambda *shape: random.normal(size=shape)


def additive_weights(normal):
    names = {"query_kernel": UNITS, "key_kernel": DEPTH}
    weights = {name: normal(depth, 6) for name, depth in names.items()}
    return weights | {"v": normal(6), "b": normal(6)}


def test_coverage_location_and_one_head_reduce_to_additive(normal):
    s, h, w = normal(2, UNITS), normal(2, SOURCE, DEPTH), additive_weights(normal)
    alpha, w_c = np.abs(normal(2, SOURCE)), normal(6)
    covered = functools.partial(scores.coverage_additive, s, h, coverage_kernel=w_c)
    close(covered(np.zeros_like(alpha), **w), scores.additive(s, h, **w))
    # A filter of width one and weight one hands on alpha itself: eq. (11).
    filters = {"filters": np.ones([1, 1]), "location_kernel": w_c[None]}
    located = scores.location_sensitive(s, h, alpha, **filters, **w)
    close(located, covered(alpha, **w))
    w = additive_weights(normal)
    one = {"query_kernel": w["query_kernel"][:, None]}
    one |= {"key_kernel": w["key_kernel"][:, None], "v": w["v"][None]}
    s, h, b = normal(BATCH, UNITS), normal(BATCH, SOURCE, DEPTH), w["b"][None]
    context, alpha, _ = attention.multi_head_additive(s, h, MASK, (), b=b, **one)
    score = functools.partial(scores.additive, **w)
    expected = attention.softmax(s, h, MASK, (), score=score)
    close(context, expected[0])
    close(alpha[:, 0], expected[1])


def test_monotonic_recursion_is_the_sum_over_paths_soft_and_hard():
    random = np.random.default_rng(7)
    p, previous = random.random([4, 6]), random.dirichlet(np.ones(6), size=4)
    got = align.soft_monotonic(p, previous)
    for n in range(4):
        for j in range(6):
            total = sum(  # Raffel et al. 2017, eq. (9)
                previous[n, k] * np.prod(1 - p[n, k:j]) for k in range(j + 1)
            )
            close(got[n, j], p[n, j] * total)
    close(align.parallel_monotonic(p, previous), got)
    random = np.random.default_rng(0)
    mask = random.random([100, 7]) < 0.8
    hard = soft = align.first_position(mask)
    for _ in range(4):
        p = (random.random([100, 7]) < 0.4).astype(float)
        hard = align.hard_monotonic(p, hard, mask)
        soft = align.soft_monotonic(p, soft, mask)
        np.testing.assert_array_equal(hard, soft)
    assert 0 < hard.sum() < 100  # some have walked past the end


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


def test_gnmt_decoder_residuals_and_contexts_by_hand(normal):
    value = normal(BATCH, SOURCE, DEPTH)
    weights = additive_weights(normal)
    score = functools.partial(scores.additive, **weights)

    def attend(query, state):
        return attention.softmax(query, value, MASK, state, score=score)

    zeros, seen = np.zeros([BATCH, UNITS]), []

    def echo(x, state):  # a cell that shows a constant and keeps what it was given
        seen.append(x)
        return np.ones([BATCH, UNITS])

    x, context = normal(BATCH, 1, 2), attend(zeros, ())[0]
    outputs, _, _ = decoders.gnmt(x, [zeros] * 4, (), attend=attend, cells=[echo] * 4)
    # Layers 0 and 1 show 1, layer 2 shows 1 + 1, layer 3 shows 1 + 2.
    close(outputs[:, 0], np.concatenate([np.full([BATCH, UNITS], 3.0), context], -1))
    close(seen[0], x[:, 0])
    for layer, below in ((1, 1.0), (2, 1.0), (3, 2.0)):
        fed = np.concatenate([np.full([BATCH, UNITS], below), context], axis=-1)
        close(seen[layer], fed)


def recurrent(normal, inputs):
    weights = {"kernel": normal(inputs, UNITS), "recurrent_kernel": np.eye(UNITS)}
    return functools.partial(cells.simple, **weights), np.zeros([BATCH, UNITS])


def test_gnmt_encoder_residual_from_the_third_layer_and_groups_of_the_pyramid(normal):
    x, bottom = normal(BATCH, SOURCE, 2), recurrent(normal, 2)
    second = recurrent(normal, 2 * UNITS)
    silent = (lambda x, state: np.zeros([BATCH, UNITS]), second[1])
    below, _ = encoders.gnmt(x, (bottom, bottom), [second])
    above, states = encoders.gnmt(x, (bottom, bottom), [second, silent, silent])
    assert len(states) == 4
    close(above, below)  # h + x with h = 0, twice
    cut, _ = encoders.gnmt(x, (bottom, bottom), [second, silent], residual_from=9)
    close(cut, 0.0)
    values = np.arange(10.0).reshape(1, 5, 2)
    mask = np.array([[True, True, True, False, False]])
    grouped, grouped_mask = encoders.group(values, mask)
    np.testing.assert_array_equal(grouped, [[[0, 1, 2, 3], [4, 5, 0, 0], [0, 0, 0, 0]]])
    np.testing.assert_array_equal(grouped_mask, [[True, True, False]])
    assert encoders.group(values, factor=3)[0].shape == (1, 2, 6)
