"""Nothing is done at every step that can be done once: the products inside the loop.

Every dimension has a size of its own, so that a shape says what is multiplied.
"""

import keras
import pytest
import tensorflow as tf

from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BahdanauCell,
    ChoCell,
    ConditionalCell,
    ContextCell,
    GNMTCell,
    LuongAttention,
    LuongCell,
)
from tests.structure.graphs import loop_bodies, operations, products

BATCH, SOURCE, TARGET, VOCABULARY = 3, 17, 19, 23
EMBEDDING, UNITS, MEMORY, HIDDEN = 5, 7, 11, 13  # HIDDEN: of the additive attention


def bahdanau(cell):
    return BahdanauCell(UNITS, attention=BahdanauAttention(HIDDEN), cell=cell)


def luong(**kwargs):
    return LuongCell(UNITS, attention=LuongAttention("general"), **kwargs)


def gnmt():
    return GNMTCell(UNITS, attention=BahdanauAttention(HIDDEN), layers=3)


# Cell, number of products in the body, right operands [in, out] of those with a weight
# matrix. Beside these the body has, where there is attention, two more products: the
# score (additive: with v; Luong: state times keys) and the context (alignment times
# values).
CASES = {
    "bahdanau_gru": (
        lambda: bahdanau("gru"),
        5,  # query, score, context, fed, recurrent
        [
            (7, 13),  # W_a: the query
            (11, 21),  # F: the context into the three gates
            (7, 21),  # U: the state into the three gates
        ],
    ),
    "bahdanau_gru_paper": (
        lambda: bahdanau("gru_paper"),
        6,  # query, score, context, fed, gates, proposal
        [
            (7, 13),  # W_a
            (11, 21),  # F
            (7, 14),  # U_z, U_r: the state into two gates
            (7, 7),  # U: the reset state into the proposal, which waits for the gates
        ],
    ),
    "bahdanau_layer_norm_gru": (
        lambda: bahdanau("layer_norm_gru"),
        5,  # query, score, context, fed, recurrent: normalised, W x is still outside
        [
            (7, 13),  # W_a
            (11, 21),  # F
            (7, 21),  # U
        ],
    ),
    "bahdanau_lstm": (
        lambda: bahdanau("lstm"),
        5,  # query, score, context, fed, recurrent
        [
            (7, 13),  # W_a
            (11, 28),  # F: four gates
            (7, 28),  # U
        ],
    ),
    "bahdanau_simple": (
        lambda: bahdanau("simple"),
        5,  # query, score, context, fed, recurrent
        [
            (7, 13),  # W_a
            (11, 7),  # F
            (7, 7),  # U
        ],
    ),
    "luong": (
        luong,
        5,  # fed, recurrent, score, context, attentional
        [
            (7, 28),  # F: h~ of the step before, into four gates
            (7, 28),  # U
            (18, 7),  # W_c: [context; state]
        ],
    ),
    "luong_without_input_feeding": (
        lambda: luong(use_input_feeding=False),
        4,  # recurrent, score, context, attentional
        [
            (7, 28),  # U
            (18, 7),  # W_c
        ],
    ),
    "gnmt": (
        gnmt,
        8,  # query, score, context, recurrent, and input and recurrent twice above
        [
            (7, 13),  # W_a
            (7, 28),  # U of the bottom layer, which is not fed the context
            (18, 28),  # W of the second layer: [layer below; context]
            (7, 28),  # U of the second layer
            (18, 28),  # W of the third
            (7, 28),  # U of the third
        ],
    ),
    "conditional": (
        lambda: ConditionalCell(UNITS, attention=BahdanauAttention(HIDDEN)),
        6,  # recurrent, query, score, context, and input and recurrent of the second
        [
            (7, 21),  # U of the first cell
            (7, 13),  # W_a
            (11, 21),  # W of the second cell: the context
            (7, 21),  # U of the second cell
        ],
    ),
    "cho": (
        lambda: ChoCell(UNITS),
        2,  # gates, proposal
        [(7, 14), (7, 7)],  # U_z, U_r; U
    ),
    "context": (
        lambda: ContextCell(UNITS),
        1,  # recurrent
        [(7, 21)],  # U
    ),
    "context_fed": (
        lambda: ContextCell(UNITS, use_context=True),
        1,  # recurrent: F c is the same at every step, so it is in the state
        [(7, 21)],  # U
    ),
}
# [in, out] of what must not be in the body: W of the (bottom) cell, and U_a (additive)
# or W_a (Luong's general) of the keys; None: no attention, no keys.
INPUT_KERNELS = {
    "bahdanau_gru": (5, 21),
    "bahdanau_gru_paper": (5, 21),
    "bahdanau_layer_norm_gru": (5, 21),
    "bahdanau_lstm": (5, 28),
    "bahdanau_simple": (5, 7),
    "luong": (5, 28),
    "luong_without_input_feeding": (5, 28),
    "gnmt": (5, 28),
    "conditional": (5, 21),
    "cho": (5, 21),
    "context": (5, 21),
    "context_fed": (5, 21),
}
KEY_KERNELS = {
    "bahdanau_gru": (11, 13),
    "bahdanau_gru_paper": (11, 13),
    "bahdanau_layer_norm_gru": (11, 13),
    "bahdanau_lstm": (11, 13),
    "bahdanau_simple": (11, 13),
    "luong": (11, 7),
    "luong_without_input_feeding": (11, 7),
    "gnmt": (11, 13),
    "conditional": (11, 13),
    "cho": None,
    "context": None,
    "context_fed": None,
}
# [in, out] of what is multiplied once, before the first step, beside these two.
AT_THE_START = {
    "context_fed": [(7, 21)],  # F: the context into the three gates
    "cho": [(7, 7), (7, 7), (7, 21)],  # V, V', and F
}


@pytest.fixture(params=CASES)
def case(request):
    return request.param


@pytest.fixture
def graph(case):
    """Forward pass of decoder and readout, masks and alignments included."""
    cell = CASES[case][0]()
    decoder, readout = AttentionDecoder(cell), keras.layers.Dense(VOCABULARY)

    @tf.function
    def forward(inputs, value, inputs_mask, value_mask):
        outputs, alignments = decoder(
            inputs,
            value,
            initial_state=tf.nest.map_structure(
                lambda size: tf.zeros((BATCH, size)), cell.state_size
            ),
            inputs_mask=inputs_mask,
            value_mask=value_mask,
            return_attention_scores=True,
        )
        return readout(outputs), alignments

    return forward.get_concrete_function(
        tf.TensorSpec((BATCH, TARGET, EMBEDDING)),
        tf.TensorSpec((BATCH, SOURCE, MEMORY)),
        tf.TensorSpec((BATCH, TARGET), tf.bool),
        tf.TensorSpec((BATCH, SOURCE), tf.bool),
    ).graph


def test_products_inside_the_loop(case, graph):
    _, number, kernels = CASES[case]
    [body] = loop_bodies(graph)
    inside = products(operations(body))
    assert len(inside) == number, inside
    rights = [product.right for product in inside]
    for kernel in kernels:
        assert rights.count(kernel) == kernels.count(kernel), (kernel, inside)


def test_what_does_not_depend_on_the_state_is_outside(case, graph):
    [body] = loop_bodies(graph)
    inside = products(operations(body))
    assert inside, "found no product: does the test still know their names?"
    for product in inside:
        for shape in product.shapes:
            assert EMBEDDING not in shape, f"inputs are projected per step: {product}"
            assert VOCABULARY not in shape, f"the readout is in the loop: {product}"
            assert TARGET not in shape, f"all steps at every step: {product}"
        assert product.right != KEY_KERNELS[case], f"keys per step: {product}"


def test_once_per_sequence(case, graph):
    """Outside of the loop: one product for all inputs, one for keys, one readout."""
    outside = products(operations(graph, enter_loops=False))
    rights = [product.right for product in outside]
    expected = [INPUT_KERNELS[case], *AT_THE_START.get(case, [])]
    if KEY_KERNELS[case] is not None:
        expected.append(KEY_KERNELS[case])
    assert sorted(r for r in rights if VOCABULARY not in r) == sorted(expected)
    assert len([r for r in rights if VOCABULARY in r]) == 1
