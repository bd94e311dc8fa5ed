"""Decoder and encoder oracles: masks, padding, and orders that must coincide."""

import functools

import numpy as np
import pytest

from tests.oracles import attention, cells, decoders, encoders

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


def lstm(normal, inputs, units=UNITS, scale=0.5):
    return functools.partial(
        cells.lstm,
        kernel=scale * normal(inputs, 4 * units),
        recurrent_kernel=scale * normal(units, 4 * units),
        bias=scale * normal(4 * units),
    )


def gru(normal, inputs, units=UNITS):
    return functools.partial(
        cells.gru,
        kernel=normal(inputs, 3 * units),
        recurrent_kernel=normal(units, 3 * units),
        bias=normal(2, 3 * units),
    )


def attend_to(normal, value, mask=MASK):
    return attention.bind(attention.bahdanau, value, mask, **additive_weights(normal))


def decoder_runs(normal):
    """name -> run(inputs, mask): every decoder, two or three layers where it can."""
    value = normal(BATCH, SOURCE, DEPTH)
    pair = lambda: [normal(BATCH, UNITS), normal(BATCH, UNITS)]  # noqa: E731
    attend = attend_to(normal, value)
    coverage = attention.bind(
        attention.coverage,
        value,
        MASK,
        **additive_weights(normal),
        coverage_kernel=normal(6),
    )
    zeros = np.zeros([BATCH, SOURCE])
    bottom, above = lstm(normal, 2 + DEPTH), lstm(normal, UNITS)
    luong = [pair(), pair()], zeros, np.zeros([BATCH, UNITS])
    feed = lstm(normal, 2 + UNITS)
    deep = [bottom] + [lstm(normal, UNITS + DEPTH) for _ in range(2)]
    one, two, three = normal(BATCH, UNITS), [pair(), pair()], [pair() for _ in range(3)]
    single, plain = gru(normal, 2 + DEPTH), [lstm(normal, 2 + UNITS), above]
    mixing = normal(DEPTH + UNITS, UNITS)
    return {
        "bahdanau": lambda x, m: decoders.bahdanau(
            x, one, (), attend=attend, cell=single, mask=m
        ),
        "luong": lambda x, m: decoders.luong(
            x,
            *luong,
            attend=coverage,
            cells=[feed, above],
            mask=m,
            attentional_kernel=mixing,
        ),
        "gnmt": lambda x, m: decoders.gnmt(
            x, three, (), attend=attend, cells=deep, mask=m
        ),
        "context_only": lambda x, m: decoders.context_only(
            x, two, cells=plain, mask=m, feed_context=True
        ),
    }


def flat(nest):
    if isinstance(nest, (list, tuple)):
        return [leaf for entry in nest for leaf in flat(entry)]
    return [nest]


@pytest.mark.parametrize("name", ["bahdanau", "luong", "gnmt", "context_only"])
def test_masked_target_steps_might_as_well_not_be_there(normal, name):
    run = decoder_runs(normal)[name]
    inputs = normal(BATCH, TARGET, 2)
    *expected, state = run(inputs, None)
    order = [0, None, 1, 2, None, 3]
    padded = np.full([BATCH, len(order), 2], np.nan)
    mask = np.zeros([BATCH, len(order)], dtype=bool)
    for place, t in enumerate(order):
        if t is not None:
            padded[:, place], mask[:, place] = inputs[:, t], True
    *got, padded_state = run(padded, mask)
    for a, b in zip(got, expected, strict=True):
        close(a[:, [0, 2, 3, 5]], b)
        assert np.all(a[:, [1, 4]] == 0.0)
    for a, b in zip(flat(padded_state), flat(state), strict=True):
        close(a, b)


def test_one_layer_of_gnmt_is_bahdanaus_order(normal):
    attend = attend_to(normal, normal(BATCH, SOURCE, DEPTH))
    cell, h, x = gru(normal, 2 + DEPTH), normal(BATCH, UNITS), normal(BATCH, TARGET, 2)
    outputs, alphas, (state, _) = decoders.bahdanau(x, h, (), attend=attend, cell=cell)
    deep = decoders.gnmt(x, [h], (), attend=attend, cells=[cell])
    close(outputs[..., :UNITS], deep[0])
    close(alphas, deep[1])
    close(state, deep[2][0][0])
    first = attend(h, ())[0]  # the first context is seen from the initial state
    close(outputs[:, 0, UNITS:], first)


def test_gnmt_decoder_residuals_and_contexts_by_hand(normal):
    attend = attend_to(normal, normal(BATCH, SOURCE, DEPTH))
    zeros, seen = np.zeros([BATCH, UNITS]), []

    def echo(x, state):  # a cell that shows a constant and keeps what it was given
        seen.append(x)
        return np.ones([BATCH, UNITS])

    x = normal(BATCH, 1, 2)
    context = attend(zeros, ())[0]
    for to_bottom in (True, False):
        seen.clear()
        outputs, _, _ = decoders.gnmt(
            x,
            [zeros] * 4,
            (),
            attend=attend,
            cells=[echo] * 4,
            context_to_bottom=to_bottom,
        )
        # Layers 0 and 1 show 1, layer 2 shows 1 + 1, layer 3 shows 1 + 2.
        close(outputs, 3.0)
        bottom = [x[:, 0], context] if to_bottom else [x[:, 0]]
        close(seen[0], np.concatenate(bottom, axis=-1))
        for layer, below in ((1, 1.0), (2, 1.0), (3, 2.0)):
            fed = np.concatenate([np.full([BATCH, UNITS], below), context], axis=-1)
            close(seen[layer], fed)


def test_luong_without_feeding_attends_after_the_fact(normal):
    attend = attend_to(normal, normal(BATCH, SOURCE, DEPTH))
    cell, h, x = gru(normal, 2), normal(BATCH, UNITS), normal(BATCH, TARGET, 2)
    kernel = normal(DEPTH + UNITS, 5)
    outputs, alphas, _ = decoders.luong(
        x,
        [h],
        (),
        np.zeros([BATCH, 5]),
        attend=attend,
        cells=[cell],
        attentional_kernel=kernel,
        input_feeding=False,
    )
    hidden, _ = encoders.one_way(x, (cell, h))
    contexts, expected, _ = attention.over_targets(attend, hidden)
    close(alphas, expected)
    together = np.concatenate([contexts, hidden], axis=-1)
    close(outputs, np.tanh(together @ kernel))


def test_context_only_without_feeding_is_a_stack(normal):
    lower, upper = gru(normal, 2), gru(normal, UNITS)
    h, x = [normal(BATCH, UNITS), normal(BATCH, UNITS)], normal(BATCH, TARGET, 2)
    outputs, state = decoders.context_only(x, h, cells=[lower, upper])
    below, last = encoders.one_way(x, (lower, h[0]))
    expected, top = encoders.one_way(below, (upper, h[1]))
    close(outputs, expected)
    close(state[0], last)
    close(state[1], top)


def encoder_runs(normal):
    zero = lambda: [np.zeros([BATCH, UNITS])] * 2  # noqa: E731
    both = lambda n: ((lstm(normal, n), zero()), (lstm(normal, n), zero()))  # noqa: E731
    bottom = both(2)
    above = [(lstm(normal, 2 * UNITS, 4), zero())]
    above += [(lstm(normal, 4), zero()) for _ in range(2)]
    stack = [both(2), both(2 * UNITS)]
    listener = [both(2), both(4 * UNITS)]
    return {
        "bidirectional": lambda x, m: encoders.bidirectional(x, *bottom, m),
        "stacked": lambda x, m: encoders.stacked_bidirectional(x, stack, m),
        "gnmt": lambda x, m: encoders.gnmt(x, bottom, above, m),
        "pyramid": lambda x, m: encoders.pyramid(x, listener, m)[:2],
    }


@pytest.mark.parametrize("name", ["bidirectional", "stacked", "gnmt", "pyramid"])
@pytest.mark.parametrize("length", [3, 4])
def test_padding_at_the_source_might_as_well_not_be_there(normal, name, length):
    run = encoder_runs(normal)[name]
    values = normal(BATCH, SOURCE, 2)
    mask = np.tile(np.arange(SOURCE) < length, [BATCH, 1])
    values[~mask] = np.nan
    got, state = run(values, mask)
    expected, trimmed = run(values[:, :length], None)
    steps = expected.shape[1]
    close(got[:, :steps], expected)
    assert np.all(got[:, steps:] == 0.0)
    for a, b in zip(flat(state), flat(trimmed), strict=True):
        close(a, b)


def test_backward_half_is_the_forward_half_of_the_reversed_row(normal):
    zeros, x = np.zeros([BATCH, UNITS]), normal(BATCH, SOURCE, 2)
    layer = (gru(normal, 2), zeros)
    values, state = encoders.bidirectional(x, layer, layer)
    turned, _ = encoders.bidirectional(x[:, ::-1], layer, layer)
    close(values[..., UNITS:], turned[:, ::-1, :UNITS])
    close(state, np.concatenate([values[:, -1, :UNITS], values[:, 0, UNITS:]], axis=-1))


def test_gnmt_encoder_residual_starts_at_the_third_layer(normal):
    run_weights = encoder_runs(normal)
    x = normal(BATCH, SOURCE, 2)
    outputs, states = run_weights["gnmt"](x, None)
    assert len(states) == 4
    close(states[0][0].shape, [BATCH, 2 * UNITS])
    zero = (np.zeros([BATCH, UNITS]),) * 2
    silent = (lambda x, state: list(zero), list(zero))
    forward = (lstm(normal, 2), list(zero))
    second = (lstm(normal, 2 * UNITS), list(zero))
    below, _ = encoders.gnmt(x, (forward, forward), [second])
    above, _ = encoders.gnmt(x, (forward, forward), [second, silent, silent])
    close(above, below)  # h + x with h = 0, twice
    cut, _ = encoders.gnmt(
        x, (forward, forward), [second, silent, silent], residual_from=9
    )
    close(cut, 0.0)


def test_groups_of_the_pyramid():
    values = np.arange(10.0).reshape(1, 5, 2)
    mask = np.array([[True, True, True, False, False]])
    grouped, grouped_mask = encoders.group(values, mask)
    np.testing.assert_array_equal(grouped, [[[0, 1, 2, 3], [4, 5, 0, 0], [0, 0, 0, 0]]])
    np.testing.assert_array_equal(grouped_mask, [[True, True, False]])
    assert encoders.group(values, factor=3)[0].shape == (1, 2, 6)
