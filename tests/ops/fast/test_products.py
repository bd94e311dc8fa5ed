"""Products in a fast loop: what does not depend on the step is outside of it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops.fast.unroll import dynamic_unroll
from keras_seqattn.ops.loop_ops import in_loop, multiply, multiply_each
from keras_seqattn.ops.unroll import static_unroll
from tests.ops.fast.loops import agree, close, results


@pytest.fixture
def kernel():
    random = np.random.default_rng(5)
    return keras.Variable(random.normal(size=(3, 3)), dtype="float32")


@pytest.fixture
def inputs():
    random = np.random.default_rng(6)
    return tf.constant(random.normal(size=(2, 4, 3)), tf.float32)


def recurrence(kernel, dtype="float32"):
    def step(x, h):
        h = tf.tanh(x + multiply(h, kernel, dtype))
        return h, h

    return step


def loop_nodes(graph):
    """The nodes of each loop: forward, then backward."""
    bodies = [f for f in graph.library.function if "_body" in f.signature.name]
    return [list(body.node_def) for body in bodies]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_no_step_casts_or_transposes_a_kernel(kernel, inputs, dtype):
    step, inputs = recurrence(kernel, dtype), tf.cast(inputs, dtype)
    function = tf.function(
        lambda x: results(dynamic_unroll, step, x, x[:, 0], [kernel.value])
    )
    graph = function.get_concrete_function(inputs).graph.as_graph_def()
    bodies = loop_nodes(graph)
    nodes = [node for body in bodies for node in body]
    products = [node for node in nodes if node.op == "MatMul"]
    assert len(bodies) == 2 and len(products) == 2  # forward, and the gradient of h
    assert not any(node.attr["transpose_b"].b for node in products)
    assert not any(node.op in ("Transpose", "Cast") for node in nodes)
    assert [node.op for node in graph.node].count("Transpose") >= 1


def test_what_multiplies_one_factor_is_one_product(kernel, inputs):
    """Two kernels of other widths, one of them with a bias that is read twice."""
    random = np.random.default_rng(8)
    wide = keras.Variable(random.normal(size=(3, 5)), dtype="float32")
    bias = keras.Variable(random.normal(size=(5,)), dtype="float32")

    def step(x, h):
        query = multiply(h, kernel, "float32")
        gates = multiply(h, wide, "float32", bias)
        h = tf.tanh(x + query * gates[:, :3])
        return (h, gates), h

    sources = [kernel.value, wide.value, bias.value]
    graph, _ = agree(step, inputs, sources=sources)
    nodes = [[node.op for node in body] for body in loop_nodes(graph)]
    assert [body.count("MatMul") for body in nodes] == [1, 1]
    assert not any("BiasAddGrad" in body for body in nodes)


def test_outside_of_a_loop_it_is_a_product(kernel, inputs):
    assert not in_loop()
    expected = inputs.numpy() @ np.asarray(kernel)
    np.testing.assert_allclose(multiply(inputs, kernel, "float32"), expected, 1e-6)
    bias = keras.Variable([1.0, 2.0, 3.0])
    found = multiply(inputs, kernel, "float32", bias)
    np.testing.assert_allclose(found, expected + [1.0, 2.0, 3.0], 1e-6)


def test_one_kernel_twice_and_axes_between(kernel, inputs):
    def step(x, h):
        h = tf.tanh(multiply(x, kernel, "float32") + multiply(h, kernel, "float32"))
        return h, h

    inputs = tf.stack([inputs, inputs + 1.0], axis=2)  # [batch, time, 2, depth]
    agree(step, inputs, sources=[kernel.value], unknown=True)


def test_second_derivatives_are_refused(kernel, inputs):
    def second(x):
        with tf.GradientTape() as tape:
            tape.watch(kernel.value)
            step, sources = recurrence(kernel), [kernel.value]
            _, found = results(dynamic_unroll, step, x, x[:, 0], sources)
        return tape.gradient(found[-1], kernel.value)

    with pytest.raises(LookupError, match="has first derivatives only"):
        tf.function(second, autograph=False)(inputs)


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_of_each_sentence(inputs, transposed):
    matrices = tf.random.stateless_normal((2, 3, 3), seed=(1, 2))

    def unrolled(unroll, inputs, matrices):
        def step(x, h):
            h = tf.tanh(x + multiply_each(h[:, None], matrices, transposed)[:, 0])
            return h, h

        return results(unroll, step, inputs, inputs[:, 0], [matrices])

    sizes = [tf.TensorSpec([None, None, 3])] * 2
    graph = tf.function(
        lambda *x: unrolled(dynamic_unroll, *x), input_signature=sizes, autograph=False
    )
    close(graph(inputs, matrices), unrolled(static_unroll, inputs, matrices))


def test_under_a_condition(kernel, inputs):
    def step(x, h):
        product = tf.cond(
            tf.reduce_sum(h) > 0.0,
            lambda: multiply(h, kernel, "float32"),
            lambda: multiply(x, kernel, "float32"),
        )
        return product, product

    agree(step, inputs, sources=[kernel.value])


@pytest.mark.parametrize(
    "left",
    [tf.stop_gradient, lambda h: tf.one_hot(tf.argmax(h, axis=-1), 3), tf.ones_like],
    ids=["stop_gradient", "one_hot", "ones_like"],
)
def test_a_factor_without_a_gradient(kernel, inputs, left):
    """The other one has its own all the same."""

    def step(x, h):
        h = tf.tanh(x + multiply(left(h), kernel, "float32"))
        return h, h

    _, gradients = agree(step, inputs, sources=[kernel.value])
    assert np.any(gradients[0]) and np.any(gradients[-1])
