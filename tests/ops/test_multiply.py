"""Products in a loop: what does not depend on the step is computed before it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops.unroll import dynamic_unroll, in_loop, multiply, static_unroll


def gradients(unroll, kernel, inputs, dtype="float32"):
    """Of inputs and kernel, through a recurrence."""

    def step(x, h):
        h = tf.tanh(x + multiply(h, kernel, dtype))
        return h, h

    with tf.GradientTape() as tape:
        tape.watch([inputs, kernel.value])
        outputs, state = unroll(step, inputs, tf.zeros_like(inputs[:, 0]))
        loss = tf.reduce_sum(tf.sin(outputs)) + tf.reduce_sum(state)
    return tape.gradient(loss, [inputs, kernel.value])


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
    kinds = ("_rewritten", "_grad_")  # of the loop forth, with what it keeps, and back
    bodies = [
        function
        for function in graph.library.function
        if "body" in function.signature.name
        and any(kind in function.signature.name for kind in kinds)
    ]
    nodes = [node for body in bodies for node in body.node_def]
    products = [node for node in nodes if node.op == "MatMul"]
    assert len(bodies) == 2 and len(products) == 3  # forth; back, to h and to kernel
    assert not any(node.attr["transpose_b"].b for node in products)
    assert not any(node.op in ("Transpose", "Cast") for node in nodes)
    assert [node.op for node in graph.node].count("Transpose") >= 1


def test_outside_of_a_loop_it_is_a_product(given):
    kernel, inputs = given
    assert not in_loop()
    expected = inputs.numpy() @ np.asarray(kernel)
    np.testing.assert_allclose(multiply(inputs, kernel, "float32"), expected, 1e-6)
