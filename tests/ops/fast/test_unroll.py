"""What the fast loop keeps, and what it must not do twice."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops import cell
from keras_seqattn.ops.fast import cell as fast_cell
from keras_seqattn.ops.fast.unroll import Unrolling, dynamic_unroll
from keras_seqattn.ops.loop_ops import drawn, multiply
from keras_seqattn.ops.unroll import static_unroll
from tests.ops.fast.loops import agree, close, results

BATCH, TIME, UNITS = 3, 4, 5


@pytest.fixture
def random():
    return np.random.default_rng(7)


def test_nothing_is_kept_in_vain(random):
    """The gates of the GRU are kept, so the backward pass does not need the product."""
    kernel = tf.Variable(random.normal(size=(UNITS, 3 * UNITS)), dtype=tf.float32)

    def step(x, h):
        return fast_cell.gru_step(x, h, multiply(h, kernel, "float32"))

    @tf.function
    def kept(inputs, state):
        unrolling = Unrolling(step, inputs, state)
        widths = [spec.shape[-1] for spec in unrolling._kept]
        specs.extend(zip(widths, unrolling._needed(), strict=True))
        return unrolling.run()

    specs = []
    kept(tf.ones((BATCH, TIME, 3 * UNITS)), tf.ones((BATCH, UNITS)))
    # The state; the product; h, z, r, the candidate and the part of it in the product.
    widths, needed = zip(*specs, strict=True)
    assert widths == (UNITS, 3 * UNITS, *[UNITS] * 5)
    assert needed == (True, False, False, True, True, True, True)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_cells(random, kind, jit_compile):
    """In a loop and alone; the kernel is a variable that is read at every step."""
    gates = {"gru": 3, "lstm": 4}[kind]
    kernel = tf.Variable(random.normal(size=(UNITS, gates * UNITS)), dtype=tf.float32)
    inputs = tf.constant(random.normal(size=(BATCH, TIME, gates * UNITS)), tf.float32)
    h = tf.constant(random.normal(size=(BATCH, UNITS)), tf.float32)
    state = h if kind == "gru" else [h, tf.sin(h)]

    def stepped(equations):
        def step(x, state):
            return getattr(equations, f"{kind}_step")(
                x, state, tf.nest.flatten(state)[0] @ kernel
            )

        return step

    agree(stepped(fast_cell), inputs, state, [kernel], jit_compile)
    alone, expected = (
        results(static_unroll, stepped(equations), inputs, state, [kernel])
        for equations in (fast_cell, cell)
    )
    close(alone, expected)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_what_the_step_reads_from_outside(random, jit_compile):
    """Tensors, variables, and one that has no gradient."""
    outside = tf.constant(random.normal(size=(BATCH, UNITS)), tf.float32)
    weight = tf.Variable(random.normal(size=(UNITS,)), dtype=tf.float32)
    flags = tf.constant([True, False, True])

    def unrolled(unroll, inputs, outside):
        with tf.GradientTape() as tape:
            tape.watch(outside)
            read = tf.exp(outside)

            def step(x, h):
                h = tf.where(flags[:, None], tf.tanh(x + weight * h), h + read)
                return h * read, h

            outputs, last = unroll(step, inputs, tf.zeros_like(outside))
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(last)
        return tape.gradient(loss, [outside, weight])

    inputs = tf.constant(random.normal(size=(BATCH, TIME, UNITS)), tf.float32)
    graph = tf.function(
        lambda *given: unrolled(dynamic_unroll, *given),
        jit_compile=jit_compile,
        autograph=False,
    )
    close(graph(inputs, outside), unrolled(static_unroll, inputs, outside))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_what_was_drawn_is_drawn_once(jit_compile):
    """The gradient of a product with a mask is the mask: other draws would show."""
    seeds = keras.random.SeedGenerator(3)

    def step(x, total):
        mask = drawn(lambda: keras.random.dropout(tf.ones_like(x), 0.5, seed=seeds), x)
        total = total + x * mask
        return mask, total

    @tf.function(jit_compile=jit_compile, autograph=False)
    def masks_and_gradient(inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            masks, total = dynamic_unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
        return masks, tape.gradient(total, inputs)

    masks, gradient = masks_and_gradient(tf.ones([BATCH, TIME, 50]))
    np.testing.assert_array_equal(masks, gradient)
    assert set(np.unique(masks)) == {0.0, 2.0}
    assert not np.array_equal(masks[:, 0], masks[:, 1])


def test_a_step_that_must_not_happen_twice_is_left_to_autodiff():
    counter = tf.Variable(0.0)

    def step(x, h):
        counter.assign_add(1.0)
        return h + x, h + x

    @tf.function(autograph=False)
    def reason(inputs):
        loop = Unrolling(step, inputs, tf.zeros_like(inputs[:, 0]))
        assert "AssignAddVariableOp" in loop.reason
        return inputs

    reason(tf.ones([BATCH, TIME, UNITS]))


def test_no_tensor_of_a_step_is_stored_but_states_and_products():
    """The tanh of [batch, source, units] is computed again in the backward pass."""
    keys = tf.ones([BATCH, 11, UNITS])

    def step(x, h):
        h = tf.reduce_sum(tf.tanh((x + h)[:, None] + keys), axis=1)
        return h, h

    @tf.function(autograph=False)
    def gradient(inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs, _ = dynamic_unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
        return tape.gradient(outputs, inputs)

    graph = gradient.get_concrete_function(tf.TensorSpec([BATCH, None, UNITS])).graph
    loops = [x for x in graph.get_operations() if x.type in ("While", "StatelessWhile")]
    assert len(loops) == 2  # forward and backward, no accumulators between them
    lists = [x for x in graph.get_operations() if x.type == "TensorListReserve"]
    sizes = {tuple(tf.get_static_value(x.inputs[0])) for x in lists}
    assert sizes == {(BATCH, UNITS)}
