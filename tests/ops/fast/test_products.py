"""Products in a fast loop: what does not depend on the step is outside of it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops.fast.unroll import dynamic_unroll
from keras_seqattn.ops.loop_ops import in_loop, multiply, multiply_each
from keras_seqattn.ops.unroll import static_unroll


def gradients_of(unroll, step, inputs, kernel):
    """Of inputs and kernel, through a loop of these steps."""
    with tf.GradientTape() as tape:
        tape.watch([inputs, kernel.value])
        outputs, state = unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
        loss = tf.reduce_sum(tf.sin(outputs)) + tf.reduce_sum(state)
    return tape.gradient(loss, [inputs, kernel.value])


def gradients(unroll, kernel, inputs, dtype="float32"):
    """Through a recurrence."""

    def step(x, h):
        h = tf.tanh(x + multiply(h, kernel, dtype))
        return h, h

    return gradients_of(unroll, step, inputs, kernel)


@pytest.fixture
def given():
    random = np.random.default_rng(5)
    kernel = keras.Variable(random.normal(size=(3, 3)), dtype="float32")
    return kernel, tf.constant(random.normal(size=(2, 4, 3)), tf.float32)


def test_gradients_are_those_of_the_product(given):
    graph = tf.function(lambda x: gradients(dynamic_unroll, given[0], x))
    pairs = zip(graph(given[1]), gradients(static_unroll, *given), strict=True)
    for received, expected in pairs:
        np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_no_step_casts_or_transposes_a_kernel(given, dtype):
    kernel, inputs = given
    inputs = tf.cast(inputs, dtype)
    function = tf.function(lambda x: gradients(dynamic_unroll, kernel, x, dtype))
    graph = function.get_concrete_function(inputs).graph.as_graph_def()
    bodies = [
        function
        for function in graph.library.function
        if "_body" in function.signature.name
    ]
    nodes = [node for body in bodies for node in body.node_def]
    products = [node for node in nodes if node.op == "MatMul"]
    assert len(bodies) == 2 and len(products) == 2  # forward, and the gradient of h
    assert not any(node.attr["transpose_b"].b for node in products)
    assert not any(node.op in ("Transpose", "Cast") for node in nodes)
    assert [node.op for node in graph.node].count("Transpose") >= 1


def test_what_multiplies_one_factor_is_one_product(given):
    """Two kernels of other widths, one of them with a bias that is read twice."""
    kernel, inputs = given
    random = np.random.default_rng(8)
    wide = keras.Variable(random.normal(size=(3, 5)), dtype="float32")
    bias = keras.Variable(random.normal(size=(5,)), dtype="float32")
    sources = [kernel.value, wide.value, bias.value]

    def unrolled(unroll, inputs):
        def step(x, h):
            query = multiply(h, kernel, "float32")
            gates = multiply(h, wide, "float32", bias)
            h = tf.tanh(x + query * gates[:, :3])
            return (h, gates), h

        with tf.GradientTape() as tape:
            tape.watch([inputs, *sources])
            found, _ = unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
            loss = sum(tf.reduce_sum(tf.sin(x)) for x in found)
        return tape.gradient(loss, [inputs, *sources])

    graph = tf.function(lambda x: unrolled(dynamic_unroll, x), autograph=False)
    expected = unrolled(static_unroll, inputs)
    for found, right in zip(graph(inputs), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
    definition = graph.get_concrete_function(inputs).graph.as_graph_def()
    bodies = [f for f in definition.library.function if "_body" in f.signature.name]
    nodes = [[node.op for node in body.node_def] for body in bodies]
    assert [body.count("MatMul") for body in nodes] == [1, 1]
    assert not any("BiasAddGrad" in body for body in nodes)


def test_outside_of_a_loop_it_is_a_product(given):
    kernel, inputs = given
    assert not in_loop()
    expected = inputs.numpy() @ np.asarray(kernel)
    np.testing.assert_allclose(multiply(inputs, kernel, "float32"), expected, 1e-6)
    bias = keras.Variable([1.0, 2.0, 3.0])
    found = multiply(inputs, kernel, "float32", bias)
    np.testing.assert_allclose(found, expected + [1.0, 2.0, 3.0], 1e-6)


def test_one_kernel_twice_and_axes_between(given):
    kernel, inputs = given
    inputs = tf.stack([inputs, inputs + 1.0], axis=2)  # [batch, time, 2, depth]

    def unrolled(unroll, inputs):
        def step(x, h):
            h = tf.tanh(multiply(x, kernel, "float32") + multiply(h, kernel, "float32"))
            return h, h

        return gradients_of(unroll, step, inputs, kernel)

    spec = tf.TensorSpec([None, None, 2, 3])
    graph = tf.function(
        lambda x: unrolled(dynamic_unroll, x), input_signature=[spec], autograph=False
    )
    pairs = zip(graph(inputs), unrolled(static_unroll, inputs), strict=True)
    for received, expected in pairs:
        np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


def test_no_second_derivative_is_wrong(given):
    kernel, inputs = given

    def second(x):
        with tf.GradientTape() as tape:
            tape.watch(kernel.value)
            _, of_kernel = gradients(dynamic_unroll, kernel, x)
        return tape.gradient(of_kernel, kernel.value)

    with pytest.raises(LookupError, match="has first derivatives only"):
        tf.function(second, autograph=False)(inputs)


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_of_each_sentence(given, transposed):
    _, inputs = given
    random = np.random.default_rng(6)
    matrices = tf.constant(random.normal(size=(2, 3, 3)), tf.float32)

    def unrolled(unroll, inputs, matrices):
        def step(x, h):
            h = tf.tanh(x + multiply_each(h[:, None], matrices, transposed)[:, 0])
            return h, h

        with tf.GradientTape() as tape:
            tape.watch([inputs, matrices])
            outputs, _ = unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
            loss = tf.reduce_sum(tf.sin(outputs))
        return tape.gradient(loss, [inputs, matrices])

    specs = [tf.TensorSpec([None, None, 3]), tf.TensorSpec([None, None, 3])]
    graph = tf.function(
        lambda *x: unrolled(dynamic_unroll, *x), input_signature=specs, autograph=False
    )
    expected = unrolled(static_unroll, inputs, matrices)
    for found, right in zip(graph(inputs, matrices), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def test_under_a_condition(given):
    def unrolled(unroll, kernel, inputs):
        def step(x, h):
            product = tf.cond(
                tf.reduce_sum(h) > 0.0,
                lambda: multiply(h, kernel, "float32"),
                lambda: multiply(x, kernel, "float32"),
            )
            return product, product

        with tf.GradientTape() as tape:
            tape.watch(kernel.value)
            outputs, _ = unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
            loss = tf.reduce_sum(tf.sin(outputs))
        return tape.gradient(loss, kernel.value)

    graph = tf.function(lambda x: unrolled(dynamic_unroll, given[0], x))
    expected = unrolled(static_unroll, *given)
    np.testing.assert_allclose(graph(given[1]), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "left",
    [
        tf.stop_gradient,
        lambda h: tf.one_hot(tf.argmax(h, axis=-1), 3),
        tf.ones_like,
    ],
    ids=["stop_gradient", "one_hot", "ones_like"],
)
def test_a_factor_without_a_gradient(given, left):
    """The other one has its own all the same."""
    kernel, inputs = given

    def found(unroll, inputs):
        def step(x, h):
            h = tf.tanh(x + multiply(left(h), kernel, "float32"))
            return h, h

        return gradients_of(unroll, step, inputs, kernel)

    received = tf.function(lambda x: found(dynamic_unroll, x))(inputs)
    for one, other in zip(received, found(static_unroll, inputs), strict=True):
        assert np.any(other)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
