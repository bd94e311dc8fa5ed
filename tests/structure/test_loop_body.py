"""Nothing is done at every step that can be done once: the products inside the loop.

Every dimension has a size of its own, so that a shape says what is multiplied.
"""

from typing import Any, NamedTuple

import keras
import pytest
import tensorflow as tf

from keras_seqattn import layers as L
from tests.structure.graphs import loop_bodies, operations, products

BATCH, SOURCE, TARGET, VOCABULARY = 3, 17, 19, 23
EMBEDDING, UNITS, MEMORY, HIDDEN = 5, 7, 11, 13  # HIDDEN: of the additive attention
ADDITIVE_KEYS, LUONG_KEYS = (11, 13), (11, 7)  # U_a; W_a of Luong's general score
ATTENTION = 2  # products with no weight matrix: the score, and the context


class Case(NamedTuple):
    """A cell, and the right operands [in, out] of its products with a weight matrix.

    make: () -> cell.
    bottom: W of the (bottom) cell, for all inputs at once.
    keys: of the attention, computed once; None: no attention.
    inside: what the body of the loop multiplies by at every step.
    start: what is multiplied once, before the first step, beside `bottom` and `keys`.
    """

    make: Any
    bottom: tuple
    keys: tuple | None
    inside: list
    start: tuple = ()


def bahdanau(cell, *inside):
    """Inside: W_a, F (the context into the gates), U (the state into them)."""
    gates = inside[1][1]
    return Case(
        lambda: L.BahdanauCell(UNITS, attention=L.BahdanauAttention(HIDDEN), cell=cell),
        (5, gates),
        ADDITIVE_KEYS,
        list(inside),
    )


def luong(**options):
    return lambda: L.LuongCell(UNITS, attention=L.LuongAttention("general"), **options)


CASES = {
    "bahdanau_gru": bahdanau("gru", (7, 13), (11, 21), (7, 21)),
    # U_z, U_r; U: the reset state into the proposal, which waits for the gates.
    "bahdanau_gru_paper": bahdanau("gru_paper", (7, 13), (11, 21), (7, 14), (7, 7)),
    # Normalised, W x is still outside.
    "bahdanau_layer_norm_gru": bahdanau("layer_norm_gru", (7, 13), (11, 21), (7, 21)),
    "bahdanau_lstm": bahdanau("lstm", (7, 13), (11, 28), (7, 28)),
    "bahdanau_simple": bahdanau("simple", (7, 13), (11, 7), (7, 7)),
    # F: h~ of the step before, into four gates; U; W_c: [context; state].
    "luong": Case(luong(), (5, 28), LUONG_KEYS, [(7, 28), (7, 28), (18, 7)]),
    "luong_without_input_feeding": Case(
        luong(use_input_feeding=False), (5, 28), LUONG_KEYS, [(7, 28), (18, 7)]
    ),
    # W_a; U of the bottom layer, which is not fed the context; for each layer above
    # W: [layer below; context], and U.
    "gnmt": Case(
        lambda: L.GNMTCell(UNITS, attention=L.BahdanauAttention(HIDDEN), layers=3),
        (5, 28),
        ADDITIVE_KEYS,
        [(7, 13), (7, 28), (18, 28), (7, 28), (18, 28), (7, 28)],
    ),
    # U of the first cell; W_a; W of the second cell: the context; its U.
    "conditional": Case(
        lambda: L.ConditionalCell(UNITS, attention=L.BahdanauAttention(HIDDEN)),
        (5, 21),
        ADDITIVE_KEYS,
        [(7, 21), (7, 13), (11, 21), (7, 21)],
    ),
    "cho": Case(
        lambda: L.ChoCell(UNITS),
        (5, 21),
        None,
        [(7, 14), (7, 7)],  # U_z, U_r; U
        ((7, 7), (7, 7), (7, 21)),  # V, V', and F
    ),
    "context": Case(lambda: L.ContextCell(UNITS), (5, 21), None, [(7, 21)]),  # U
    "context_fed": Case(
        lambda: L.ContextCell(UNITS, use_context=True),
        (5, 21),
        None,
        [(7, 21)],  # U alone: F c is the same at every step, so it is in the state
        ((7, 21),),  # F: the context into the three gates
    ),
}


@pytest.fixture(params=CASES, scope="module")
def traced(request):
    """A case, and the graph of its decoder and readout, with masks and alignments."""
    case = CASES[request.param]
    cell = case.make()
    decoder, readout = L.AttentionDecoder(cell), keras.layers.Dense(VOCABULARY)

    @tf.function
    def forward(inputs, value, inputs_mask, value_mask):
        state = tf.nest.map_structure(lambda n: tf.zeros((BATCH, n)), cell.state_size)
        options = {"inputs_mask": inputs_mask, "value_mask": value_mask}
        options |= {"initial_state": state, "return_attention_scores": True}
        outputs, alignments = decoder(inputs, value, **options)
        return readout(outputs), alignments

    return case, forward.get_concrete_function(
        tf.TensorSpec((BATCH, TARGET, EMBEDDING)),
        tf.TensorSpec((BATCH, SOURCE, MEMORY)),
        tf.TensorSpec((BATCH, TARGET), tf.bool),
        tf.TensorSpec((BATCH, SOURCE), tf.bool),
    ).graph


def test_products_inside_and_outside_of_the_loop(traced):
    case, graph = traced
    [body] = loop_bodies(graph)
    inside = products(operations(body))
    without_weights = ATTENTION if case.keys else 0
    assert len(inside) == len(case.inside) + without_weights, inside
    rights = [product.right for product in inside]
    for kernel in case.inside:
        assert rights.count(kernel) == case.inside.count(kernel), (kernel, inside)
    for product in inside:
        for shape in product.shapes:
            assert EMBEDDING not in shape, f"inputs are projected per step: {product}"
            assert VOCABULARY not in shape, f"the readout is in the loop: {product}"
            assert TARGET not in shape, f"all steps at every step: {product}"
        assert product.right != case.keys, f"keys per step: {product}"
    # One product for all inputs, one for keys, one readout.
    outside = products(operations(graph, enter_loops=False))
    rights = [product.right for product in outside]
    expected = [case.bottom, *case.start, *([case.keys] if case.keys else [])]
    assert sorted(r for r in rights if VOCABULARY not in r) == sorted(expected)
    assert len([r for r in rights if VOCABULARY in r]) == 1
