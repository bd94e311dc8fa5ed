"""Operations that a traced function executes, and those of its matrix products."""

import collections
import math

import numpy as np
import pytest
import tensorflow as tf

from benchmarks import ours, sizes
from benchmarks.flops import flops
from benchmarks.rivals import keras_rnn
from benchmarks.traced import run

SIZE = sizes.Size(3, 5, 7, 11, 13, 17)  # no two dimensions are alike


def traced(function, *shapes):
    return tf.function(function).get_concrete_function(*map(tf.TensorSpec, shapes))


def types(function, *arguments):
    return collections.Counter(e.op.type for e in run(function, *arguments)[0])


def test_results_and_effects_are_those_of_the_function():
    variable = tf.Variable(1.0)

    def function(x):
        for _ in tf.range(3):
            variable.assign_add(tf.reduce_sum(x))
        if variable > 5.0:
            return tf.concat([x, x], axis=0), tf.split(x, 2, axis=1)
        return x, tf.split(x, 2, axis=1)

    x = np.ones((1, 2), "float32")
    _, [joined, left, right] = run(traced(function, (1, 2)), x)
    assert variable.numpy() == 7.0
    np.testing.assert_array_equal(joined, [[1, 1], [1, 1]])
    np.testing.assert_array_equal([left, right], [[[1]], [[1]]])


def test_loops_count_as_often_as_they_turn():
    def function(x):
        unused = tf.tanh(x)
        for _ in tf.range(tf.shape(x)[0]):
            for _ in tf.range(2):
                x = tf.sigmoid(x)
        return tf.exp(x) + 0.0 * tf.zeros_like(unused)

    found = types(traced(function, (5, 2)), np.ones((5, 2), "float32"))
    assert (found["Sigmoid"], found["Exp"], found["Tanh"]) == (10, 1, 0)


def test_operations_know_the_outermost_loop():
    def function(x):
        for _ in tf.range(2):
            for _ in tf.range(3):
                x = tf.sigmoid(x)
        return tf.exp(x)

    seen, _ = run(traced(function, (1,)), np.ones(1, "float32"))
    loops = {e.op.type: e.loop for e in seen}
    assert loops["Exp"] is None
    assert loops["Sigmoid"].graph.outer_graph is not None  # that of the function
    assert not loops["Sigmoid"].graph.name.startswith("while")


@pytest.mark.parametrize(
    "product, shapes, expected",
    [
        (tf.matmul, [(2, 3), (3, 5)], 2 * 2 * 3 * 5),
        (lambda a, b: tf.matmul(a, b, transpose_a=True), [(3, 2), (3, 5)], 60),
        (lambda a, b: tf.matmul(a, b, transpose_b=True), [(2, 3), (5, 3)], 60),
        (tf.matmul, [(7, 2, 3), (1, 3, 5)], 7 * 60),
        (lambda a, b: tf.matmul(a, b, adjoint_a=True), [(7, 3, 2), (7, 3, 5)], 420),
        (lambda a, b: tf.einsum("bsu,u->bs", a, b), [(2, 3, 5), (5,)], 60),
        (lambda a, b: tf.einsum("...u,uv->...v", a, b), [(7, 2, 3), (3, 5)], 420),
        (lambda a, b: a * b, [(2, 3), (2, 3)], 0),
    ],
)
def test_products(product, shapes, expected):
    arguments = [np.ones(shape, "float32") for shape in shapes]
    assert flops(traced(product, *shapes), *arguments) == expected


@pytest.mark.system
@pytest.mark.product
@pytest.mark.parametrize("train", [ours.training, keras_rnn.training])
@pytest.mark.parametrize("masked", [False, True])
def test_a_training_step_by_hand(train, masked):
    """Each product [m, k] x [k, n] has two of the same size for its gradients.

    On its way back our loop computes the scores once more.
    """
    b, s, t, e, u, v = SIZE
    products = [
        *[(b * s, e, 3 * u), (b * s, u, 3 * u)] * 2,  # the encoder's two directions
        (b * s, 2 * u, u),  # keys
        (b, 2 * u, u),  # the bridge
        (b * t, u, u),  # query
        (b * t * s, u, 1),  # scores
        (b * t, s, 2 * u),  # context
        (b * t, e + 2 * u, 3 * u),  # inputs and context into the gates
        (b * t, u, 3 * u),  # state into the gates
        (b * t, 3 * u, u),  # the hidden layer
        (b * t, u, v),  # logits
    ]
    expected = 3 * sum(2 * math.prod(product) for product in products)
    if train is ours.training:
        expected += 2 * math.prod((b * t * s, u, 1))
    assert train(SIZE, masked).flops() == expected
