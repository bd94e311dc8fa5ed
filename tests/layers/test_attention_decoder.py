"""The decoder around its cells: states, steps, beams, masks, loops."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops, tree

import keras_seqattn as ks
from keras_seqattn.testing.contract import gradients, same, same_gradients
from tests.structure.graphs import is_loop, operations

UNITS, BATCH, SOURCE, TARGET = 4, 3, 6, 5
INPUTS_MASK = np.arange(TARGET) < np.array([[5], [3], [1]])
VALUE_MASK = np.arange(SOURCE) < np.array([[2], [6], [4]])


def additive():
    return ks.BahdanauAttention(UNITS)


def foreign_cell():
    cells = [keras.layers.LSTMCell(5), keras.layers.GRUCell(UNITS)]
    cell = keras.layers.StackedRNNCells(cells)
    return ks.layers.LuongCell(UNITS, ks.LuongAttention("general"), cell=cell)


CELLS = {  # without a past beside the recurrent state
    "bahdanau": lambda: ks.layers.BahdanauCell(UNITS, additive(), cell="gru_paper"),
    "previous state": lambda: ks.layers.BahdanauCell(
        UNITS, additive(), cell="lstm", readout="previous_state"
    ),
    "luong without feeding": lambda: ks.layers.LuongCell(
        UNITS, ks.LuongAttention(), cell="layer_norm_gru", use_input_feeding=False
    ),
    "gnmt": lambda: ks.layers.GNMTCell(UNITS, additive(), layers=3),
    "conditional": lambda: ks.layers.ConditionalCell(UNITS, additive()),
    "context": lambda: ks.layers.ContextCell(UNITS, cell="layer_norm_lstm", layers=2),
}
PAST_CELLS = {  # with one
    "luong": lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention("general")),
    "coverage": lambda: ks.layers.LuongCell(
        UNITS, ks.layers.CoverageAttention(UNITS), cell="gru"
    ),
    "location": lambda: ks.layers.GNMTCell(
        UNITS, ks.layers.LocationSensitiveAttention(UNITS, 2, 3), layers=3
    ),
    "local": lambda: ks.layers.BahdanauCell(
        UNITS, ks.layers.LocalAttention(ks.LuongAttention("general"), 2), layers=2
    ),
    "foreign": foreign_cell,
    "context, fed": lambda: ks.layers.ContextCell(UNITS, use_context=True),
    "cho": lambda: ks.layers.ChoCell(UNITS),
}
ALL = {**CELLS, **PAST_CELLS}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def arguments(decoder, **options):
    """Inputs, value and initial state; everything that a call can return, but masks."""
    sizes = decoder.cell.state_size
    states = [normal(BATCH, n, seed=9 + i) for i, n in enumerate(tree.flatten(sizes))]
    given = {"inputs": normal(BATCH, TARGET, 3)}
    given["value"] = normal(BATCH, SOURCE, UNITS, seed=1)
    given["initial_state"] = tree.pack_sequence_as(sizes, states)
    returned = {"return_attention_scores": True, "return_state": True}
    return {**given, **returned, **options}


@functools.cache
def made(name, **options):
    """A decoder for all tests: none of them changes its weights."""
    decoder = ks.AttentionDecoder(ALL[name](), **options)
    decoder(**arguments(decoder))
    random = np.random.default_rng(5)
    for weight in decoder.trainable_weights:
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return decoder


def close(expected, received, tolerance=1e-5):
    tree.assert_same_structure(expected, received)
    for e, r in zip(tree.flatten(expected), tree.flatten(received), strict=True):
        np.testing.assert_allclose(r, e, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ALL)
def test_steps_and_calls_go_on_from_the_returned_state(name):
    decoder = made(name)
    given = arguments(decoder)
    outputs, alignments, last = decoder(**given)
    first = {**given, "inputs": given["inputs"][:, :2]}
    some, _, state = decoder(**first)
    close(outputs[:, :2], some)
    memory = decoder.prepare(given["value"])
    for t in range(2, TARGET):
        step = decoder.step(given["inputs"][:, t], state, memory)
        close(outputs[:, t], step.output)
        close(alignments[:, t], step.alignment)
        state = step.state
    close(last, state)
    # Where nothing but the recurrent state is carried, it alone goes on, too.
    decoder = made(name)
    given = arguments(decoder)
    outputs, alignments, last = decoder(**given)
    first = decoder(**{**given, "inputs": given["inputs"][:, :2]})
    for state in [first[2], first[2].recurrent][: 1 + (name in CELLS)]:
        second = {"inputs": given["inputs"][:, 2:], "initial_state": state}
        second = decoder(**{**given, **second})
        close(outputs, ops.concatenate([first[0], second[0]], axis=1))
        close(alignments, ops.concatenate([first[1], second[1]], axis=1))
        close(last, second[2])


def test_state_may_be_a_tuple_for_a_list():
    decoder = made("context")
    given = arguments(decoder)
    as_tuples = tuple(tuple(layer) for layer in given["initial_state"])
    expected = decoder(**given)
    close(expected, decoder(**{**given, "initial_state": as_tuples}), 0)


@pytest.mark.parametrize("name", ALL)
def test_a_beam_shares_one_memory(name):
    """Every hypothesis moves as it would alone, against a memory without a beam."""
    decoder, beam = made(name), 3
    given = arguments(decoder)
    memory = decoder.prepare(given["value"], VALUE_MASK)
    starts = [
        decoder.initial_state(
            memory, tree.map_structure(lambda x, k=k: x * k, given["initial_state"])
        )
        for k in range(beam)
    ]
    state = tree.map_structure(lambda *each: ops.stack(each, axis=1), *starts)
    for t in range(3):  # several, so that each has a past of its own
        inputs_t = normal(BATCH, beam, 3, seed=20 + t)
        step = decoder.step(inputs_t, state, memory)
        assert tuple(step.alignment.shape) == (BATCH, beam, SOURCE)
        for k in range(beam):
            alone = decoder.step(inputs_t[:, k], starts[k], memory)
            among = tree.map_structure(lambda x, k=k: x[:, k], step)
            close(tuple(alone), tuple(among))
            starts[k] = alone.state
        state = step.state


@pytest.mark.parametrize("name", ["bahdanau", "luong"])
def test_memory_is_never_tiled(name):
    """Nothing in the graph of a beam step copies values or keys for each hypothesis."""
    decoder = made(name)
    given = arguments(decoder)
    memory = decoder.prepare(given["value"])
    state = decoder.initial_state(memory, given["initial_state"])
    state = tree.map_structure(lambda x: np.stack([x] * 7, axis=1), state)
    graph = tf.function(lambda x, state: decoder.step(x, state, memory).output)
    graph = graph.get_concrete_function(normal(BATCH, 7, 3), state).graph
    tiles = {"Tile", "BroadcastTo", "GatherV2"}
    assert not tiles & {operation.type for operation in graph.get_operations()}


IDS = np.where(INPUTS_MASK, 1 + np.arange(TARGET), 0)
SOURCE_IDS = np.where(VALUE_MASK, 1 + np.arange(SOURCE), 0)


def embeddings():
    """Target and source embeddings that say what is padding."""
    return (
        keras.layers.Embedding(9, 3, mask_zero=True),
        keras.layers.Embedding(9, UNITS, mask_zero=True),
    )


@pytest.mark.parametrize(
    "name, state",
    [("bahdanau", True), ("bahdanau", False), ("gnmt", True), ("context", True)],
)
def test_implicit_masks_are_the_explicit_ones(name, state):
    """Also beside an initial state, where `keras.layers.RNN` would lose them."""
    decoder, (target, source) = made(name), embeddings()
    given = arguments(decoder)
    if not state:
        given["initial_state"] = None
    given["inputs"], given["value"] = target(IDS), source(SOURCE_IDS)
    received = decoder(**given)
    np.testing.assert_array_equal(received[0]._keras_mask, INPUTS_MASK)
    plain = {name: np.asarray(given[name]) for name in ("inputs", "value")}
    masks = {"inputs_mask": INPUTS_MASK, "value_mask": VALUE_MASK}
    expected = decoder(**{**given, **plain, **masks})
    close(expected, received, 0)
    assert not np.any(received[1] * ~VALUE_MASK[:, None, :])
    assert np.any(np.asarray(decoder(**{**given, **plain})[0]) != expected[0])


def test_implicit_masks_in_a_functional_model():
    decoder, (target, source) = made("bahdanau"), embeddings()
    symbols = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    outputs = decoder(target(symbols[0]), source(symbols[1]))
    received = keras.Model(symbols, outputs)((IDS, SOURCE_IDS))
    inputs, value = np.asarray(target(IDS)), np.asarray(source(SOURCE_IDS))
    masks = {"inputs_mask": INPUTS_MASK, "value_mask": VALUE_MASK}
    close(decoder(inputs, value, **masks), received, 0)
    np.testing.assert_array_equal(received._keras_mask, INPUTS_MASK)


def test_explicit_masks_beat_implicit_ones():
    decoder, (target, source) = made("bahdanau"), embeddings()
    given = arguments(decoder)
    plain = {
        "inputs": np.asarray(target(IDS)),
        "value": np.asarray(source(SOURCE_IDS)),
        "inputs_mask": INPUTS_MASK[::-1].copy(),
        "value_mask": VALUE_MASK[::-1].copy(),
    }
    expected = decoder(**{**given, **plain})
    masked = {"inputs": target(IDS), "value": source(SOURCE_IDS)}
    received = decoder(**{**given, **plain, **masked})
    close(expected, received, 0)
    np.testing.assert_array_equal(received[0]._keras_mask, plain["inputs_mask"])


def test_unrolled_is_the_compiled_loop():
    """`unroll` is heeded in a graph, too, with the same results and gradients."""
    decoder, unrolled = made("bahdanau"), made("bahdanau", unroll=True)
    given = arguments(decoder, inputs_mask=INPUTS_MASK[:, :3], value_mask=VALUE_MASK)
    given["inputs"] = given["inputs"][:, :3]
    results, loops = [], []
    for layer in (decoder, unrolled):
        graph = tf.function(layer.__call__)
        results.append(gradients(layer, given, graph))
        traced = graph.get_concrete_function(**given).graph
        loops.append(any(map(is_loop, operations(traced))))
    assert loops == [True, False]
    (expected, wanted), (received, found) = results
    same(expected, received, 1e-5, "unrolled")
    same_gradients(
        wanted, dict(zip(wanted, found.values(), strict=True)), 1e-4, "unrolled"
    )


def test_attention_dropout_is_drawn_anew_at_every_step():
    """In the compiled loop too; the alignment returned is the one before dropout."""
    cell = ks.layers.BahdanauCell(UNITS, ks.BahdanauAttention(UNITS, dropout=0.5))
    decoder = ks.AttentionDecoder(cell)
    inputs, value = np.ones((1, 8, 3), "float32"), np.ones((1, 40, 1), "float32")

    @tf.function
    def graph(training):
        return decoder(inputs, value, return_attention_scores=True, training=training)

    outputs, alignments = graph(training=True)
    contexts = np.asarray(outputs)[0, :, UNITS:]  # of ones: the weight that was kept
    assert len(np.unique(contexts)) > 4
    np.testing.assert_allclose(np.sum(alignments, axis=-1), 1.0, rtol=1e-5)
    outputs, _ = graph(training=False)
    np.testing.assert_allclose(outputs[..., UNITS:], 1.0, rtol=1e-5)
