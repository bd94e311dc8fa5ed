"""Both `dynamic_unroll`s are `static_unroll`: outputs, states, gradients, masks."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.ops import unroll as reference
from keras_seqattn.ops.fast import unroll as fast
from keras_seqattn.ops.unroll import static_unroll

BATCH, TIME, DEPTH = 3, 5, 4
MASKS = {
    "none": None,
    "right": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]],
    "left": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]],
    "holes": [[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]],
}
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
    """It in a graph; batch and time are unknown when it is traced."""

    def unroll(inputs, state, mask=None):
        def spec(x):
            sizes = x.shape[1:] if jit_compile else (None, *x.shape[2:])
            return tf.TensorSpec((None, *sizes), x.dtype)

        signature = [tree.map_structure(spec, tree.map_structure(_tensor, inputs))]
        states = tree.map_structure(_tensor, state)
        signature.append(
            tree.map_structure(
                lambda x: tf.TensorSpec((None, *x.shape[1:]), x.dtype), states
            )
        )
        if mask is not None:
            time = mask.shape[1] if jit_compile else None
            signature.append(tf.TensorSpec((None, time), tf.bool))
        graph = tf.function(
            lambda *given: dynamic_unroll(step, *given),
            input_signature=signature,
            jit_compile=jit_compile,
        )
        return graph(*[x for x in (inputs, state, mask) if x is not None])

    return unroll


def _tensor(x):
    return tf.convert_to_tensor(x)


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
        np.testing.assert_allclose(
            np.asarray(r), np.asarray(e), rtol=tolerance, atol=tolerance
        )


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
    received = unroll(sequence(), start(), mask)
    close(by_hand(w, sequence(), start(), mask), received, 2e-6)


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
    close(gradients(static_unroll, *given), graph(*given), 1e-12)


def test_masked_positions_have_no_gradient(dynamic_unroll):
    mask = mask_of("holes")
    inputs = tf.constant(sequence())
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs, last = dynamic_unroll(
            linear_step(tf.eye(DEPTH)), inputs, start(), mask
        )
        loss = tf.reduce_sum(outputs) + tf.reduce_sum(last)
    gradient = tape.gradient(loss, inputs).numpy()
    assert not np.any(gradient[~mask]) and np.all(np.any(gradient[mask], axis=-1))


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
    (x, counts, seen), (last, _) = unroll(sequence(), state, mask)
    assert (x.dtype, counts.dtype, seen.dtype) == (tf.float32, tf.int32, tf.bool)
    np.testing.assert_array_equal(last, mask.sum(axis=1))
    np.testing.assert_array_equal(counts, np.cumsum(mask, axis=1) * mask)
    close(static_unroll(step, sequence(), state, mask)[0], (x, counts, seen))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dynamic_unroll, dtype, jit_compile):
    inputs, state = tf.cast(sequence(), dtype), tf.cast(start(), dtype)
    step = linear_step(tf.eye(DEPTH, dtype=dtype))
    expected = static_unroll(step, inputs, state, mask_of("holes"))
    received = compiled(dynamic_unroll, step, jit_compile)(
        inputs, state, mask_of("holes")
    )
    assert {x.dtype.name for x in tree.flatten(received)} == {dtype}
    as_float = [
        tree.map_structure(lambda x: tf.cast(x, "float64"), nest)
        for nest in (expected, received)
    ]
    close(*as_float, {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-12}[dtype])


def test_beam_axis(dynamic_unroll):
    """States and outputs may have axes after the batch; the mask is [batch, time]."""
    inputs = np.random.default_rng(4).normal(size=(BATCH, TIME, 2, DEPTH))
    state = np.zeros((BATCH, 2, DEPTH))
    mask = mask_of("holes")

    def step(x, h):
        return x + h, x + h

    outputs, last = compiled(dynamic_unroll, step)(inputs, state, mask)
    expected = np.cumsum(inputs * mask[:, :, None, None], axis=1)
    np.testing.assert_allclose(outputs, expected * mask[:, :, None, None], atol=1e-12)
    np.testing.assert_allclose(last, expected[:, -1], atol=1e-12)


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


def test_the_loop_is_a_while_loop(dynamic_unroll):
    graph = tf.function(lambda x, h: dynamic_unroll(linear_step(tf.eye(DEPTH)), x, h))
    concrete = graph.get_concrete_function(
        tf.TensorSpec((None, None, DEPTH)), tf.TensorSpec((None, DEPTH))
    )
    operations = {operation.type for operation in concrete.graph.get_operations()}
    assert operations & {"While", "StatelessWhile"}


def test_padding_may_hold_nan(dynamic_unroll):
    """Of a masked step nothing comes out."""
    inputs, mask = sequence(), mask_of("right")
    inputs = np.where(mask[..., None], inputs, np.nan).astype("float32")
    step = linear_step(tf.eye(DEPTH))
    outputs, last = compiled(dynamic_unroll, step)(inputs, start(), mask)
    assert np.all(np.isfinite(outputs)) and np.all(np.isfinite(last))
    close(static_unroll(step, sequence(), start(), mask), (outputs, last))


def test_state_of_another_structure(dynamic_unroll):
    def step(x, h):
        return x, [h, h]

    graph = tf.function(lambda x, h: dynamic_unroll(step, x, h))
    with pytest.raises(ValueError, match="structure"):
        graph(sequence(), start())


def test_state_of_another_shape(dynamic_unroll):
    def step(x, h):
        return x, h[:, :2]

    graph = tf.function(lambda x, h: dynamic_unroll(step, x, h))
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        graph(sequence(), start())


@pytest.mark.parametrize("unroll", [static_unroll, reference.dynamic_unroll])
def test_no_steps(unroll):
    """At least one position: without any there are no outputs to say the shape of."""
    with pytest.raises(ValueError, match="without a single step"):
        unroll(linear_step(tf.eye(DEPTH)), sequence(time=0), start())


def test_unknown_length():
    with pytest.raises(ValueError, match="inputs of unknown length"):
        static_unroll(linear_step(None), keras.Input((None, DEPTH)), ())
