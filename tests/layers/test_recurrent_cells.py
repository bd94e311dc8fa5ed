"""Split products change no number: a named cell is the Keras cell on [x; c]."""

from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, ops, tree

import keras_seqattn as ks
from keras_seqattn.layers.parts.cell_factory import (
    GATES,
    NORMALIZED,
    KerasCell,
    NamedCell,
    new_recurrent_cell,
)
from keras_seqattn.layers.parts.cell_stack import CellStack
from keras_seqattn.layers.parts.keras_cell_checks import Template

UNITS, DEPTH, FED = 3, 4, 5
KERAS = {
    "simple": layers.SimpleRNNCell,
    "gru": layers.GRUCell,
    "gru_paper": lambda units: layers.GRUCell(units, reset_after=False),
    "lstm": layers.LSTMCell,
}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def owner(dtype="float32", **arguments):
    """The decoder cell whose arguments these are."""
    return SimpleNamespace(
        dtype_policy=keras.dtype_policies.get(dtype),
        kernel_initializer=keras.initializers.get("glorot_uniform"),
        recurrent_initializer=keras.initializers.get("orthogonal"),
        **{
            "dropout": 0.0,
            "recurrent_dropout": 0.0,
            "use_variational_dropout": False,
            "seed": None,
            **arguments,
        },
    )


def made(cell, units=UNITS, dtype="float32", fed=FED):
    cell = cell if isinstance(cell, str) else Template(cell)
    part = new_recurrent_cell(cell, units, owner(dtype))
    part.build(DEPTH, fed)
    return part


def state_for(part, *axes):
    sizes = tree.flatten(part.state_size)
    states = [normal(*axes, size, seed=7 + i) for i, size in enumerate(sizes)]
    return tree.pack_sequence_as(part.state_size, [ops.array(s) for s in states])


def run(part, x, c, state):
    return part.step(part.join(part.project(x), part.feed(c)), state)


def copy_weights(named, cell):
    """A Keras cell's weights into the split ones: the rows of x, then those of c."""
    kernel, recurrent, bias = (np.array(w) for w in cell.get_weights())
    if named.kind == "gru_paper":  # the paper's z is Keras's 1 - z
        for weight in (kernel, recurrent, bias):
            weight[..., :UNITS] *= -1
    named.fed_kernel.kernel.assign(kernel[DEPTH:])
    inside = [recurrent]
    if named.kind == "gru":
        bias, inside = bias[0], [recurrent, bias[1]]
    if named.kind == "gru_paper":
        inside = [recurrent[:, : 2 * UNITS]]
        named.proposal_kernel.kernel.assign(recurrent[:, 2 * UNITS :])
    named.input_kernel.set_weights([kernel[:DEPTH], bias])
    named.recurrent_kernel.set_weights(inside)


@pytest.mark.parametrize("kind", GATES)
def test_named_cell_is_the_keras_cell(kind):
    cell = KERAS[kind](UNITS)
    cell.build((None, DEPTH + FED))
    cell.set_weights([normal(*w.shape, seed=i) for i, w in enumerate(cell.weights)])
    named = made(kind)
    assert isinstance(named, NamedCell)
    copy_weights(named, cell)
    x, c, state = normal(2, DEPTH), normal(2, FED, seed=1), state_for(named, 2)
    for _ in range(3):  # states drift apart, if anything does
        expected = cell(np.concatenate([x, c], axis=-1), tree.flatten(state))
        output, state = run(named, x, c, state)
        np.testing.assert_allclose(output, expected[0], rtol=0, atol=2e-6)
        tree.assert_same_structure(named.state_size, state)
        for s, e in zip(tree.flatten(state), expected[1], strict=True):
            np.testing.assert_allclose(s, e, rtol=0, atol=2e-6)


@pytest.mark.parametrize("kind", GATES)
def test_parameter_count_is_that_of_keras(kind):
    cell = KERAS[kind](UNITS)
    cell.build((None, DEPTH + FED))
    assert made(kind).count_params() == cell.count_params()


def test_lstm_starts_with_open_forget_gates():
    cell = KERAS["lstm"](UNITS)
    cell.build((None, DEPTH))
    bias = made("lstm").input_kernel.bias
    np.testing.assert_array_equal(bias, cell.bias)
    assert np.sum(bias) == UNITS


def test_recurrent_kernels_start_orthogonal_and_apart():
    """One initializer object serves all kernels: each gets values of its own."""
    named = made("gru_paper")
    kernel = np.asarray(named.proposal_kernel.kernel)
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(UNITS), atol=1e-5)
    assert not np.allclose(kernel, named.recurrent_kernel.kernel[:, :UNITS])


OURS = {
    "layer_norm_gru": ks.layers.LayerNormGRUCell,
    "layer_norm_lstm": ks.layers.LayerNormLSTMCell,
}


@pytest.mark.parametrize("kind", NORMALIZED)
def test_normalized_cell_is_our_keras_cell(kind):
    cell, named = OURS[kind](UNITS), made(kind, fed=None)
    cell.build((None, DEPTH))
    np.testing.assert_array_equal(named.input_norm.bias, cell.input_norm.bias)
    weights = {weight.path.split("/", 1)[1]: weight for weight in cell.weights}
    for i, weight in enumerate(named.weights):
        weight.assign(normal(*weight.shape, seed=i))
        name = weight.path.split("/", 1)[1].replace("_kernel/kernel", "_kernel")
        weights.pop(name.replace("input_kernel", "kernel")).assign(weight)
    assert not weights
    x, state = normal(2, DEPTH), state_for(named, 2)
    for _ in range(3):
        expected = cell(x, tree.flatten(state))
        output, state = named.step(named.project(x), state)
        np.testing.assert_allclose(output, expected[0], rtol=0, atol=2e-6)
        for s, e in zip(tree.flatten(state), tree.flatten(expected[1]), strict=True):
            np.testing.assert_allclose(s, e, rtol=0, atol=2e-6)


@pytest.mark.parametrize("kind", [*GATES, *NORMALIZED])
def test_project_is_once_for_all_steps(kind):
    named, inputs = made(kind), normal(2, 6, DEPTH)
    whole = named.project(inputs)
    assert tuple(whole.shape) == (2, 6, (GATES | NORMALIZED)[kind] * UNITS)
    for t in range(6):
        np.testing.assert_allclose(
            whole[:, t], named.project(inputs[:, t]), rtol=0, atol=1e-6
        )


FOREIGN = {
    "gru": lambda: layers.GRUCell(UNITS),
    "gru reset before": lambda: layers.GRUCell(UNITS, reset_after=False),
    "lstm": lambda: layers.LSTMCell(UNITS),
    "lstm with other activations": lambda: layers.LSTMCell(
        UNITS, activation="relu", recurrent_activation="hard_sigmoid", use_bias=False
    ),
    "stack": lambda: layers.StackedRNNCells(
        [layers.LSTMCell(7), layers.GRUCell(UNITS)]
    ),
    "stack of one": lambda: layers.StackedRNNCells([layers.LSTMCell(UNITS)]),
    "stack of one with one state": lambda: layers.StackedRNNCells(
        [layers.GRUCell(UNITS)]
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_keras_cell_runs_as_it_is(name):
    part = made(FOREIGN[name]())
    assert isinstance(part, KerasCell)
    x, c, state = normal(2, DEPTH), normal(2, FED, seed=1), state_for(part, 2)
    both = np.concatenate([x, c], axis=-1)
    states = [state] if isinstance(part.state_size, int) else state
    expected, new = part.cell(both, states)
    output, received = run(part, x, c, state)
    np.testing.assert_array_equal(output, expected)
    tree.assert_same_structure(state, received)
    for r, e in zip(tree.flatten(received), tree.flatten(new), strict=True):
        np.testing.assert_array_equal(r, e)
    np.testing.assert_array_equal(part.output_of(received), output)


@pytest.mark.parametrize("name", [*FOREIGN, *GATES, *NORMALIZED])
def test_beam_axis(name):
    """Every hypothesis of a beam moves as it would alone."""
    part = made(FOREIGN[name]() if name in FOREIGN else name)
    beam, x, c = 4, normal(2, 4, DEPTH), normal(2, 4, FED, seed=1)
    state = state_for(part, 2, beam)
    output, new = run(part, x, c, state)
    assert tuple(output.shape) == (2, beam, UNITS)
    for k in range(beam):
        one = tree.map_structure(lambda s, k=k: s[:, k], state)
        expected, last = run(part, x[:, k], c[:, k], one)
        np.testing.assert_allclose(output[:, k], expected, rtol=0, atol=1e-6)
        for r, e in zip(tree.flatten(new), tree.flatten(last), strict=True):
            np.testing.assert_allclose(r[:, k], e, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["lstm", "stack"])
def test_keras_cell_with_unknown_sizes(name):
    part = made(FOREIGN[name]())
    state = state_for(part, 2, 4)

    @tf.function(input_signature=[tf.TensorSpec((None, None, DEPTH))])
    def graph(x):
        return run(part, x, x[..., :1] * np.ones(FED, "float32"), state)

    output, _ = graph(normal(2, 4, DEPTH))
    assert tuple(output.shape) == (2, 4, UNITS)


def test_keras_cell_without_anything_fed():
    part = made(layers.GRUCell(UNITS), fed=None)
    x, state = normal(2, DEPTH), normal(2, UNITS, seed=2)
    expected, _ = part.cell(x, [state])
    output, _ = part.step(part.project(x), state)
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("kind", [*GATES, *NORMALIZED, "keras"])
def test_half_precision(kind):
    policy = "mixed_float16"
    cell = layers.LSTMCell(UNITS, dtype=policy) if kind == "keras" else kind
    part = made(cell, dtype=policy)
    x, c = ops.cast(normal(2, DEPTH), "float16"), ops.cast(normal(2, FED), "float16")
    state = tree.map_structure(lambda s: ops.cast(s, "float16"), state_for(part, 2))
    output, new = run(part, x, c, state)
    assert {s.dtype.name for s in tree.flatten([output, new])} == {"float16"}
    assert {w.dtype for w in part.trainable_weights} == {"float32"}


@pytest.mark.parametrize("kind", GATES)
def test_stack_is_one_cell_on_the_other(kind):
    stack = CellStack(owner(cell=kind, units=UNITS, layers=3))
    stack.build(DEPTH, FED)
    state = state_for(stack, 2)
    assert len(state) == 3
    x, c = normal(2, DEPTH), normal(2, FED, seed=1)
    output, new = stack.step(stack.join(stack.project(x), stack.feed(c)), state)
    bottom, *above = stack.cells
    expected, first = run(bottom, x, c, state[0])
    states = [first]
    for cell, past in zip(above, state[1:], strict=True):
        expected, last = cell.step(cell.project(expected), past)
        states.append(last)
    np.testing.assert_array_equal(output, expected)
    np.testing.assert_array_equal(stack.output_of(new), expected)
    for r, e in zip(tree.flatten(new), tree.flatten(states), strict=True):
        np.testing.assert_array_equal(r, e)
