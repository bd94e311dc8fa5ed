"""Two cells, one state: dropout acts on both, with masks of their own."""

import numpy as np
import pytest
from keras import ops

import keras_seqattn as ks

UNITS, EMBEDDING, MEMORY_DEPTH, BATCH = 4, 3, 6, 2


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def array(x):
    return ops.convert_to_numpy(x)


def elman(cell, x, h, noise):
    """tanh(W (x m_x) + U (h m_h) + b)."""
    kernel, recurrent_kernel = cell.input_kernel, cell.recurrent_kernel
    of_inputs = (x * array(noise.inputs)) @ array(kernel.kernel)
    of_state = (h * array(noise.recurrent)) @ array(recurrent_kernel.kernel)
    return np.tanh(of_inputs + of_state + array(kernel.bias))


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_masks_that_last_a_sequence(rate):
    cell = ks.layers.ConditionalCell(
        UNITS,
        ks.BahdanauAttention(5),
        cell="simple",
        dropout=rate,
        recurrent_dropout=0.5,
        use_variational_dropout=True,
        seed=3,
    )
    decoder = ks.AttentionDecoder(cell)
    decoder.build((None, None, EMBEDDING), (None, None, MEMORY_DEPTH))
    value, x = normal(BATCH, 5, MEMORY_DEPTH), normal(BATCH, EMBEDDING, seed=1)
    state = normal(BATCH, UNITS, seed=2)
    memory = decoder.prepare(value)
    inputs, noise = cell.drop(x[:, None], training=True)
    step = cell.step(
        cell.project(inputs)[:, 0],
        cell.initial_state(memory, state),
        memory,
        noise,
        training=True,
    )
    if rate:
        assert not np.allclose(noise[0].recurrent, noise[1].recurrent)
    else:
        noise = [masks._replace(inputs=np.float32(1)) for masks in noise]
    query = elman(cell.cells[0], x, state, noise[0])
    context, alignment, _ = cell.attention.attend(query, memory, ())
    expected = elman(cell.cells[1], array(context), query, noise[1])
    np.testing.assert_allclose(step.output[:, :UNITS], expected, atol=1e-5)
    np.testing.assert_allclose(step.output[:, UNITS:], context, atol=1e-5)
    np.testing.assert_allclose(step.alignment, alignment, atol=1e-5)
