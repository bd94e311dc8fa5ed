"""Both `dynamic_unroll`s are `static_unroll`: outputs, states, gradients, masks."""

import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.ops import unroll as reference
from keras_seqattn.ops.fast import unroll as fast
from keras_seqattn.ops.unroll import static_unroll

BATCH, TIME, DEPTH = 3, 5, 4
MASKS = {"none": None, "holes": [[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]]}
UNROLLS = {"reference": reference.dynamic_unroll, "fast": fast.dynamic_unroll}


@pytest.fixture(params=UNROLLS)
def dynamic_unroll(request):
    return UNROLLS[request.param]


def sequence(dtype="float32", time=TIME, batch=BATCH):
    shape = (batch, time, DEPTH)
    return np.random.default_rng(1).normal(size=shape).astype(dtype)


def start(dtype="float32", batch=BATCH):
    return np.random.default_rng(2).normal(size=(batch, DEPTH)).astype(dtype)


def mask_of(name):
    return None if MASKS[name] is None else np.array(MASKS[name], bool)


def compiled(dynamic_unroll, step, jit_compile=False):
    """It in a graph; without XLA batch and time are unknown when it is traced."""

    def spec(x, axes):
        x = tf.convert_to_tensor(x)
        known = 1 if jit_compile else axes
        return tf.TensorSpec((*[None] * known, *x.shape[known:]), x.dtype)

    def unroll(inputs, state, mask=None):
        given = [(inputs, 2), (state, 1)] + [(mask, 2)] * (mask is not None)
        signature = [
            tree.map_structure(lambda x, axes=axes: spec(x, axes), nest)
            for nest, axes in given
        ]
        graph = tf.function(
            lambda *given: dynamic_unroll(step, *given),
            input_signature=signature,
            jit_compile=jit_compile,
        )
        return graph(*[nest for nest, _ in given])

    return unroll


def linear_step(w):
    def step(x, h):
        h = tf.tanh(tf.matmul(x + h, w))
        return h, h

    return step


def by_hand(w, inputs, state, mask):
    """The definition once more, row by row, in NumPy."""
    outputs, last = np.zeros_like(inputs), state.copy()
    for b in range(len(inputs)):
        for t in range(inputs.shape[1]):
            if mask is None or mask[b, t]:
                last[b] = outputs[b, t] = np.tanh((inputs[b, t] + last[b]) @ w)
    return outputs, last


def close(expected, received, tolerance=1e-6):
    tree.assert_same_structure(expected, received)
    for e, r in zip(tree.flatten(expected), tree.flatten(received), strict=True):
        bounds = {"rtol": tolerance, "atol": tolerance}
        np.testing.assert_allclose(np.asarray(r), np.asarray(e), **bounds)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("how", ["static", "eager", "graph", "xla"])
def test_recurrence(dynamic_unroll, how, mask):
    w = np.random.default_rng(3).normal(size=(DEPTH, DEPTH)).astype("float32")
    step, mask = linear_step(w), mask_of(mask)
    unroll = {
        "static": lambda *given: static_unroll(step, *given),
        "eager": lambda *given: dynamic_unroll(step, *given),
        "graph": compiled(dynamic_unroll, step),
        "xla": compiled(dynamic_unroll, step, jit_compile=True),
    }[how]
    inputs = sequence()
    if mask is not None:
        inputs[~mask] = np.nan
    received = unroll(inputs, start(), mask)
    close(by_hand(w, inputs, start(), mask), received, 2e-6)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("jit_compile", [False, True])
def test_gradients(dynamic_unroll, mask, jit_compile):
    mask, w = mask_of(mask), np.random.default_rng(3).normal(size=(DEPTH, DEPTH))
    given = [tf.constant(x) for x in (sequence("float64"), start("float64"), w)]

    def gradients(unroll, inputs, state, w):
        with tf.GradientTape() as tape:
            tape.watch([inputs, state, w])
            outputs, last = unroll(linear_step(w), inputs, state, mask)
            weights = tf.cos(tf.cast(tf.range(tf.size(outputs)), "float64"))
            weights = tf.reshape(weights, tf.shape(outputs))
            loss = tf.reduce_sum(outputs * weights) + tf.reduce_sum(tf.sin(last))
        return tape.gradient(loss, [inputs, state, w])

    graph = tf.function(
        lambda *given: gradients(dynamic_unroll, *given), jit_compile=jit_compile
    )
    expected = gradients(static_unroll, *given)
    close(expected, graph(*given), 1e-12)
    if mask is not None:
        has_gradient = np.any(expected[0], axis=-1)
        np.testing.assert_array_equal(has_gradient, mask)


NESTS = {
    "one": (lambda x: x, lambda h: h),
    "list": (lambda x: [x, 2.0 * x], lambda h: [h, -h]),
    "dict in tuple": (lambda x: ({"a": x, "b": (x, x)},), lambda h: {"h": h}),
    "no state": (lambda x: x, lambda h: ()),
    "partly empty state": (lambda x: {"x": x}, lambda h: (h, (), [h, ()])),
}


@pytest.mark.parametrize("mask", ["none", "holes"])
@pytest.mark.parametrize("nest", NESTS)
def test_nests(dynamic_unroll, nest, mask):
    """Inputs, outputs and states are nests, each of another structure."""
    of_inputs, of_state = NESTS[nest]
    inputs, state, mask = of_inputs(sequence()), of_state(start()), mask_of(mask)

    def step(inputs_t, state):
        x = sum(tree.flatten(inputs_t)) + sum(tree.flatten(state))
        new = tree.map_structure(lambda h: tf.tanh(h + x), state)
        return {"sum": x, "more": [x[:, :2], tf.reduce_max(x, axis=-1)]}, new

    expected = static_unroll(step, inputs, state, mask)
    assert expected[0]["more"][0].shape == (BATCH, TIME, 2)
    assert expected[0]["more"][1].shape == (BATCH, TIME)
    close(expected, dynamic_unroll(step, inputs, state, mask))
    graph = tf.function(lambda *given: dynamic_unroll(step, *given))
    close(expected, graph(inputs, state, mask))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_states_and_outputs_keep_their_dtypes(dynamic_unroll, jit_compile):
    """A counter is an integer, a flag a boolean, and neither becomes a float."""

    def step(x, state):
        count, seen = state
        count, seen = count + 1, tf.logical_or(seen, x[:, 0] > 0)
        return (x, count, seen), (count, seen)

    state = np.zeros(BATCH, "int32"), np.zeros(BATCH, bool)
    mask = mask_of("holes")
    unroll = compiled(dynamic_unroll, step, jit_compile)
    inputs = tf.cast(sequence(), "bfloat16")
    (x, counts, seen), (last, _) = unroll(inputs, state, mask)
    assert (x.dtype, counts.dtype, seen.dtype) == (tf.bfloat16, tf.int32, tf.bool)
    np.testing.assert_array_equal(last, mask.sum(axis=1))
    np.testing.assert_array_equal(counts, np.cumsum(mask, axis=1) * mask)
    np.testing.assert_array_equal(x, tf.where(mask[..., None], inputs, 0))
    np.testing.assert_array_equal(seen, static_unroll(step, inputs, state, mask)[0][2])


def test_one_trace_for_all_sizes(dynamic_unroll):
    """Counted: for its dtypes and for the loop; fast, for what to keep as well."""
    traces = []

    def step(x, h):
        traces.append(x.shape)
        return h + x, h + x

    specs = [(None, None, DEPTH), (None, DEPTH)]
    graph = tf.function(
        lambda *given: dynamic_unroll(step, *given),
        input_signature=[tf.TensorSpec(s, tf.float32) for s in specs]
        + [tf.TensorSpec((None, None), tf.bool)],
    )
    for batch, time in [(2, 3), (5, 1), (1, 9)]:
        inputs, state = sequence(time=time, batch=batch), start(batch=batch)
        mask = np.ones((batch, time), bool)
        outputs, last = graph(inputs, state, mask)
        close(static_unroll(lambda x, h: (h + x, h + x), inputs, state, mask)[1], last)
    assert graph.experimental_get_tracing_count() == 1
    assert len(traces) == (3 if dynamic_unroll is fast.dynamic_unroll else 2)


STATES = {
    "structure": lambda h: [h, h],
    "Dimension 1 in both shapes": lambda h: h[:, :2],
}


@pytest.mark.parametrize(("message", "new_state"), STATES.items())
def test_state_of_another_structure_or_shape(dynamic_unroll, new_state, message):
    graph = tf.function(lambda *x: dynamic_unroll(lambda x, h: (x, new_state(h)), *x))
    with pytest.raises(ValueError, match=message):
        graph(sequence(), start())
