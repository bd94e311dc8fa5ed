"""Operations that a traced function executes, and those of its matrix products."""

import collections
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from benchmarks import operations, ours, sizes
from benchmarks.flops import flops
from benchmarks.operations import Count, counted
from benchmarks.rivals import keras_rnn
from benchmarks.sizes import Size
from benchmarks.traced import run
from benchmarks.xla_kernels import Turn, turns

SIZE = sizes.Size(3, 5, 7, 11, 13, 17)  # no two dimensions are alike


def traced(function, *shapes):
    return tf.function(function).get_concrete_function(*map(tf.TensorSpec, shapes))


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


def test_loops_count_as_often_as_they_turn_and_are_known():
    def function(x):
        unused = tf.tanh(x)
        for _ in tf.range(tf.shape(x)[0]):
            for _ in tf.range(2):
                x = tf.sigmoid(x)
        return tf.exp(x) + 0.0 * tf.zeros_like(unused)

    seen, _ = run(traced(function, (5, 2)), np.ones((5, 2), "float32"))
    found = collections.Counter(e.op.type for e in seen)
    loops = {e.op.type: e.loop for e in seen}
    assert (found["Sigmoid"], found["Exp"], found["Tanh"]) == (10, 1, 0)
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


STEPS = 6


def test_a_loop_by_hand():
    weight = tf.Variable(tf.ones((3, 3)))

    def forward(x=None):
        x = tf.ones((2, 3)) if x is None else x
        for _ in tf.range(STEPS):
            x = tf.tanh(x @ weight)
        return tf.exp(x)  # outside

    def gradients():
        x = tf.ones((2, 3))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = forward(x)
        return tape.gradient(y, [x, weight])

    both = (tf.function(f).get_concrete_function() for f in (gradients, forward))
    before, after = operations.count(*both, STEPS)
    assert before.kernels == 2  # the product and the tanh
    # TanhGrad, the products for state and weight, and the sum of the latter.
    assert after.kernels == 4
    assert before.all > before.kernels and after.all > after.kernels


def test_a_loop_by_hand_compiled():
    @tf.function(jit_compile=True)
    def forward(x, weight, steps):  # XLA would unroll a number that it knows
        found = tf.TensorArray(tf.float32, STEPS)

        def step(i, x, found):
            x = tf.matmul(x, weight)
            return i + 1, x, found.write(i, x)

        *_, found = tf.while_loop(
            lambda i, *_: i < steps, step, (0, x, found), maximum_iterations=STEPS
        )
        return found.stack()

    given = tf.ones((2, 3)), tf.ones((3, 3)), tf.constant(STEPS)
    text = forward.experimental_get_compiler_ir(*given)(stage="optimized_hlo")
    [turn] = turns(text)
    assert turn.writes == 1  # of x; beside it the product, and at most a copy
    assert 2 <= turn.kernels <= 3


@pytest.mark.system
@pytest.mark.parametrize("make", [operations.our_decoder, operations.rival_decoder])
def test_sizes_and_lengths_do_not_count(make):
    small = Size(batch=3, source=5, target=4, embedding=6, units=7)
    large = Size(batch=4, source=9, target=12, embedding=16, units=24)
    keras.utils.set_random_seed(1)
    found = [counted(make(size), size) for size in (small, large)]
    for one, other in zip(*found, strict=True):
        assert one.kernels == other.kernels > 10  # whole numbers: the same every step
        assert one.all == pytest.approx(other.all, abs=2)  # conditions turn once more


def test_the_bar(monkeypatch, tmp_path, capsys):
    counts = {"ours": (Count(10.0, 40.0), Count(20.0, 60.0))}
    counts["rival"] = (Count(20.0, 50.0), Count(30.0, 90.0))
    monkeypatch.setattr(operations.store, "RESULTS", tmp_path)
    monkeypatch.setattr(operations, "our_decoder", lambda size: "ours")
    monkeypatch.setattr(operations, "rival_decoder", lambda size: "rival")
    monkeypatch.setattr(operations, "counted", counts.get)
    monkeypatch.setattr(operations, "launched", lambda made: (Turn(9, 3), Turn(8, 2)))
    assert operations.main() == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["ours", "/", "it", "0.50", "0.67", "at", "most", "0.5"] in lines
    assert lines[-1] == ["keras.layers.RNN", "9", "3", "8", "2"]
    counts["ours"] = (Count(10.0, 40.0), Count(15.0, 60.0))
    assert operations.main() == 0
