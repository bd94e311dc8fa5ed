"""Dropout of decoder cells: which masks last a sequence, and what they multiply."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops, tree

import keras_seqattn as ks
from tests.layers.dropout_cases import KINDS, RATE, Echo

BATCH, TARGET, SOURCE, EMBEDDING, MEMORY, UNITS = 4, 6, 3, 5, 2, 8


def additive():
    return ks.BahdanauAttention(3)


def gnmt(**options):
    return ks.layers.GNMTCell(UNITS, additive(), layers=3, **options)


CELLS = {
    "bahdanau": lambda **k: ks.layers.BahdanauCell(UNITS, additive(), layers=2, **k),
    "bahdanau_paper": lambda **k: ks.layers.BahdanauCell(
        UNITS, additive(), "gru_paper", **k
    ),
    "luong": lambda **k: ks.layers.LuongCell(UNITS, additive(), "layer_norm_lstm", **k),
    "gnmt": gnmt,
    "context": lambda **k: ks.layers.ContextCell(UNITS, use_context=True, **k),
    "conditional": lambda **k: ks.layers.ConditionalCell(UNITS, additive(), **k),
    "cho": lambda **k: ks.layers.ChoCell(UNITS, **k),
}


def given(cell=None):
    rng = np.random.default_rng(3)
    arguments = {
        "inputs": rng.normal(size=(BATCH, TARGET, EMBEDDING)).astype("float32"),
        "value": rng.normal(size=(BATCH, SOURCE, MEMORY)).astype("float32"),
    }
    if cell is not None:
        arguments["initial_state"] = tree.map_structure(
            lambda size: rng.normal(size=(BATCH, size)).astype("float32"),
            cell.state_size,
        )
    return arguments


def made(name, **options):
    """A decoder, and arguments to call it with."""
    keras.utils.set_random_seed(7)
    decoder = ks.AttentionDecoder(CELLS[name](**options))
    decoder.build((None, None, EMBEDDING), (None, None, MEMORY))
    return decoder, given(decoder.cell)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", CELLS)
def test_only_training_drops_anew_for_every_call_and_seed(cell, kind):
    plain, arguments = made(cell)
    arguments["inputs"] = arguments["inputs"][:, :2]
    expected, results = plain(**arguments), []
    for seed in (1, 1, 2):
        decoder, _ = made(cell, **KINDS[kind], seed=seed)
        decoder.set_weights(plain.get_weights())
        for training in (None, False):
            received = decoder(**arguments, training=training)
            np.testing.assert_array_equal(received, expected)
        first, second = (decoder(**arguments, training=True).numpy() for _ in range(2))
        assert not np.allclose(first, second)
        assert not np.allclose(first, expected)
        results.append(first)
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.allclose(results[0], results[2])


@pytest.mark.parametrize(("cell", "jit_compile"), [("bahdanau", False), ("gnmt", True)])
def test_in_a_compiled_loop(cell, jit_compile):
    """Every call draws anew; the gradients are finite, and there is one trace."""
    options = {**KINDS["dropout"], "recurrent_dropout": 0.3}
    decoder, arguments = made(cell, **options)

    @tf.function(jit_compile=jit_compile)
    def train(arguments):
        with tf.GradientTape() as tape:
            outputs = decoder(**arguments, training=True)
            loss = tf.reduce_mean(outputs**2)
        return outputs, tape.gradient(loss, decoder.trainable_variables)

    (first, found), (second, _) = train(arguments), train(arguments)
    assert not np.allclose(first, second)
    assert all(np.isfinite(x).all() and np.any(x) for x in found if x is not None)
    assert train.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision(kind):
    keras.config.set_dtype_policy("mixed_float16")
    decoder, arguments = made("gnmt", **KINDS[kind])
    outputs = decoder(**arguments, training=True)
    assert outputs.dtype.name == "float16" and np.isfinite(outputs).all()


def test_nothing_is_drawn_without_dropout_and_a_step_alone_draws_its_own():
    decoder, arguments = made("gnmt")
    assert decoder.cell.drop(arguments["inputs"], True) == (arguments["inputs"], ())
    assert not decoder.non_trainable_variables
    decoder, arguments = made(
        "bahdanau", dropout=RATE, recurrent_dropout=RATE, use_variational_dropout=True
    )
    memory = decoder.prepare(arguments["value"])
    state = decoder.initial_state(memory, arguments["initial_state"])
    inputs_t = arguments["inputs"][:, 0]
    plain = decoder.step(inputs_t, state, memory).output
    again = decoder.step(inputs_t, state, memory, training=False).output
    np.testing.assert_array_equal(plain, again)
    first, second = (
        decoder.step(inputs_t, state, memory, training=True).output for _ in range(2)
    )
    assert not np.allclose(first, second) and not np.allclose(first, plain)
    beam = tree.map_structure(lambda x: ops.stack([x, x], axis=1), (inputs_t, state))
    output = decoder.step(*beam, memory, training=True).output
    assert tuple(output.shape) == (BATCH, 2, UNITS + MEMORY)
    assert not np.allclose(output[:, 0], output[:, 1])


def what_reaches_the_cell(batch=BATCH, **options):
    """`[batch, target, depth]` of 0 and 1 / (1 - rate), from inputs of ones."""
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(UNITS, Echo(UNITS), **options))
    inputs, state = np.ones((batch, TARGET, UNITS)), np.ones((batch, UNITS))
    value = np.ones((batch, SOURCE, MEMORY))
    run = tf.function(lambda: decoder(inputs, value, state, training=True))
    return run().numpy()


@pytest.mark.parametrize("variational", [False, True])
def test_masks_last_a_sequence_if_variational_and_keep_the_mean(variational):
    seen = what_reaches_the_cell(
        dropout=RATE, use_variational_dropout=variational, seed=1
    )
    assert set(np.unique(seen)) == {0.0, 1 / (1 - RATE)}
    for t in range(1, TARGET):
        assert np.array_equal(seen[:, 0], seen[:, t]) == variational
    assert not np.array_equal(seen[0], seen[1])
    seen = what_reaches_the_cell(
        batch=2000, dropout=0.25, use_variational_dropout=variational, seed=1
    )
    np.testing.assert_allclose(seen.mean(axis=(0, 1)), 1.0, atol=0.06)
    np.testing.assert_allclose(np.mean(seen == 0), 0.25, atol=0.02)


def fed_and_upper(**options):
    """What a stack of two cells is fed, and what its upper cell reads, of ones."""
    cell = ks.layers.BahdanauCell(UNITS, additive(), cell="simple", layers=2, **options)
    decoder = ks.AttentionDecoder(cell)
    inputs, value = np.ones((BATCH, TARGET, UNITS)), np.ones((BATCH, SOURCE, UNITS))
    decoder(inputs, value)
    for layer in cell.recurrence.cells:  # h = what is fed, and then what is below
        layer.recurrent_kernel.kernel.assign(np.zeros((UNITS, UNITS)))
        layer.input_kernel.bias.assign(np.zeros(UNITS))
        layer.input_kernel.kernel.assign(np.eye(UNITS))
    bottom, _ = cell.recurrence.cells
    bottom.input_kernel.kernel.assign(np.zeros((UNITS, UNITS)))
    bottom.fed_kernel.kernel.assign(np.eye(UNITS))
    seen = []
    _, noise = cell.drop(inputs, True)
    stack = cell.recurrence
    for _ in range(TARGET):
        ones, zeros = np.ones((BATCH, UNITS)), np.zeros((BATCH, UNITS))
        fed = stack.feed(ops.cast(ones, "float32"), noise, True)
        joined = stack.join(ops.cast(zeros, "float32"), fed)
        _, (below, above) = stack.step(joined, [zeros, zeros], noise, True)
        below, above = np.arctanh(np.float64(below)), np.arctanh(np.float64(above))
        seen.append((below, np.where(below > 0, above / np.tanh(below + 1e-9), np.nan)))
    fed, upper = (np.stack(x, axis=1) for x in zip(*seen, strict=True))
    return fed, upper


@pytest.mark.parametrize("variational", [False, True])
def test_what_is_fed_back_and_what_is_below_are_dropped(variational):
    fed, upper = fed_and_upper(
        dropout=RATE, use_variational_dropout=variational, seed=2
    )
    for seen in (fed, upper):
        real = seen[np.isfinite(seen)]
        kept = np.isclose(real, 2.0, atol=1e-4)
        assert np.all(kept | (real == 0)) and 0.3 < kept.mean() < 0.7
        constant = np.array_equal(
            seen, np.repeat(seen[:, :1], TARGET, axis=1), equal_nan=True
        )
        assert constant == variational


def test_residuals_are_not_dropped():
    """Cells that give nothing: what comes out has gone around all of them."""
    cell = gnmt(dropout=RATE, residual_from=2, cell="simple")
    decoder, arguments = ks.AttentionDecoder(cell), given()
    decoder(**arguments)
    for above in cell.cells[1:]:
        for weight in above.weights:
            weight.assign(np.zeros(weight.shape))
    _, _, state = decoder(
        **arguments, training=True, return_attention_scores=True, return_state=True
    )
    h = state.recurrent[0]
    memory = decoder.prepare(arguments["value"])
    zero = np.zeros((BATCH, UNITS), "float32")
    state = decoder.initial_state(memory, [h, zero, zero])
    step = decoder.step(arguments["inputs"][:, 0], state, memory, training=True)
    np.testing.assert_allclose(step.output, step.state.recurrent[0], atol=1e-6)


@pytest.mark.parametrize("kind", ["simple", "gru", "gru_paper", "lstm"])
def test_the_mask_of_the_state_acts_inside_the_product_alone(kind):
    """As if the rows of U that a mask drops were 0, and the others twice as large."""
    cell = ks.layers.ContextCell(UNITS, kind, recurrent_dropout=RATE, seed=4)
    decoder, arguments = ks.AttentionDecoder(cell), given(cell)
    decoder(**arguments)
    inner = cell.recurrence.cells[0]
    state = tree.map_structure(ops.convert_to_tensor, arguments["initial_state"])
    inputs, [noise] = cell.drop(ops.convert_to_tensor(arguments["inputs"]), True)
    assert noise.inputs == () and noise.fed == ()
    mask = np.asarray(noise.recurrent)
    assert mask.shape == (BATCH, UNITS) and set(np.unique(mask)) == {0.0, 2.0}
    assert not np.array_equal(mask[0], mask[1])
    np.testing.assert_array_equal(inputs, arguments["inputs"])
    projected = inner.project(inputs[:, 0])
    dropped, new = inner.step(projected, state, noise, True)
    kernels = [k for k in (inner.recurrent_kernel, inner.proposal_kernel) if k]
    originals = [ops.convert_to_numpy(kernel.kernel) for kernel in kernels]
    for row in range(BATCH):
        for kernel, original in zip(kernels, originals, strict=True):
            kernel.kernel.assign(mask[row][:, None] * original)
        expected, carried = inner.step(projected, state)
        np.testing.assert_allclose(dropped[row], expected[row], atol=1e-6)
        for n, c in zip(tree.flatten(new), tree.flatten(carried), strict=True):
            np.testing.assert_allclose(n[row], c[row], atol=1e-6)


def test_the_mask_of_the_state_lasts_a_sequence():
    """h_t = tanh(U (m * h_{t-1})) with U = 1: a dropped unit is 0 from then on.

    A kept one never is: a mask drawn anew would drop it sooner or later.
    """
    cell = ks.layers.ContextCell(UNITS, "simple", recurrent_dropout=RATE, seed=4)
    decoder = ks.AttentionDecoder(cell)
    inputs, value = np.zeros((64, 12, 3)), np.ones((64, 2, 2))
    state = np.ones((64, UNITS))
    decoder(inputs, value, state)
    cell.recurrence.cells[0].recurrent_kernel.kernel.assign(np.eye(UNITS))
    run = tf.function(lambda: decoder(inputs, value, state, training=True))
    alive = run().numpy() > 0
    np.testing.assert_array_equal(alive, np.repeat(alive[:, :1], 12, axis=1))
    assert 0.4 < alive.mean() < 0.6


def elman(cell, x, h, noise):
    """tanh(W (x m_x) + U (h m_h) + b)."""
    parts = cell.input_kernel, cell.recurrent_kernel
    W, U = (ops.convert_to_numpy(part.kernel) for part in parts)
    of_inputs, of_state, bias = map(
        ops.convert_to_numpy, (noise.inputs, noise.recurrent, parts[0].bias)
    )
    return np.tanh((x * of_inputs) @ W + (h * of_state) @ U + bias)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_cells_of_a_conditional_cell_have_masks_of_their_own(rate):
    options = {"dropout": rate, "recurrent_dropout": 0.5, "seed": 3}
    options |= {"cell": "simple", "use_variational_dropout": True}
    cell = ks.layers.ConditionalCell(UNITS, ks.BahdanauAttention(5), **options)
    decoder = ks.AttentionDecoder(cell)
    inputs, value, state = given(cell).values()
    decoder(inputs, value, state)
    memory = decoder.prepare(value)
    inputs, noise = cell.drop(inputs[:, :1], training=True)
    projected, first = cell.project(inputs)[:, 0], cell.initial_state(memory, state)
    step = cell.step(projected, first, memory, noise, training=True)
    if rate:
        assert not np.allclose(noise[0].recurrent, noise[1].recurrent)
    else:
        noise = [masks._replace(inputs=np.float32(1)) for masks in noise]
    query = elman(cell.cells[0], given()["inputs"][:, 0], state, noise[0])
    context, *_ = cell.attention.attend(query, memory, ())
    expected = elman(cell.cells[1], ops.convert_to_numpy(context), query, noise[1])
    np.testing.assert_allclose(step.output[:, :UNITS], expected, atol=1e-5)
