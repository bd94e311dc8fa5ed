"""Calls of layers with tensors that do not fit, and what their errors say."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

import keras_seqattn as ks
from keras_seqattn.ops.unroll import static_unroll
from tests.errors.valid_arguments import (
    UNITS,
    additive,
    attend,
    bahdanau_cell,
    built,
    decode,
    decoder,
    mask,
    ones,
)

STATE = "AttentionDecoder got an initial_state of another structure than its cell's"


def attend_with_state(state):
    attention = built(ks.layers.CoverageAttention(UNITS))
    return attention.attend(ones(2, 4), attention.prepare(ones(2, 5, 6)), state)


def step(inputs_t):
    layer = built(decoder())
    memory = layer.prepare(ones(2, 5, 6))
    return layer.step(inputs_t, layer.initial_state(memory), memory)


RANKS = {
    "BahdanauAttention got a query of the wrong rank. Expected [batch, query_depth] or "
    "[batch, target, query_depth], received shape (4,). Add or drop an axis, or check "
    "the order of the arguments.": lambda: attend(ones(4)),
    "BahdanauAttention got a query of the wrong": lambda: attend(ones(2, 3, 4, 5)),
    "BahdanauAttention got a value of the wrong": lambda: attend(value=ones(2, 6)),
    "BahdanauAttention got a value without source positions. Expected [batch, source, "
    "memory_depth] with source >= 1, received shape (2, 0, 6). For an empty sentence "
    "pass one padded position and a mask that is False there: the alignment is then "
    "zero.": lambda: attend(value=ones(2, 0, 6)),
    "BahdanauAttention got a value without source positions. Expected [batch, source, "
    "memory": lambda: built(additive()).prepare(ones(2, 0, 6)),
    "BahdanauAttention got a query without target": lambda: attend(ones(2, 0, 4)),
    "BahdanauAttention got a value of another batch than its query. Expected batch = "
    "2, as in query of shape (2, 3, 4), received a value of shape (3, 5, 6). Pass one "
    "source for each row of query.": lambda: attend(value=ones(3, 5, 6)),
    "AttentionDecoder got a value of another batch than its inputs ... batch = 1": (
        lambda: decode(ones(1, 3, 4))
    ),
    "BahdanauAttention got a list as its query. Expected a tensor, received a list of "
    "length 2. Pass each tensor as an argument of its own, without brackets; make a "
    "tensor of nested lists with keras.ops.array(...).": lambda: additive()(
        ones(2, 3, 4).tolist(), ones(2, 5, 6)
    ),
    "BahdanauAttention got a ragged value that cannot be padded. Expected [batch, "
    "source, depth], where only source is ragged, received shape (2, None, None) with "
    "ragged_rank=2. Make it with tf.ragged.constant(rows, ragged_rank=1).": lambda: (
        attend(value=tf.ragged.constant([[[1.0]], [[1.0], [2.0]]]))
    ),
    "BahdanauAttention got no value. Expected query and value, received query. Call it "
    "as layer(query, value).": lambda: additive()(ones(2, 3, 4)),
    "AttentionDecoder got an unknown argument ... received 'state'. Use "
    "'initial_state', the nearest": lambda: decode(state=ones(2, 3)),
    "AttentionDecoder got a value of the wrong rank ... memory_depth] ... (2, "
    "6)": lambda: built(decoder()).prepare(ones(2, 6)),
    "AttentionDecoder got inputs ... target, embedding]": lambda: decode(ones(2, 4)),
    "AttentionDecoder got a value without source positions ... (None, 0, 6). "
    "For": lambda: decode(keras.Input((3, 4)), keras.Input((0, 6))),
    "AttentionDecoder got inputs without target positions. Expected [batch, target, "
    "depth] with target >= 1, received shape (2, 0, 4). Pass at least one position, "
    "masked if it is not real.": lambda: decode(ones(2, 0, 4)),
    "BiEncoder got a sequence ... depth]": lambda: ks.BiEncoder(UNITS)(ones(2, 4)),
    "BiEncoder got inputs without source ... (2, 0, 4). For an empty sentence "
    "pass": lambda: ks.BiEncoder(UNITS)(ones(2, 0, 4)),
    "static_unroll got inputs of unknown length ... (None, None, 4). Use "
    "dynamic": lambda: static_unroll(None, keras.Input((None, 4)), ()),
    "static_unroll got inputs without a single step ... (2, 0, 4). Pass at least one "
    "position": lambda: static_unroll(None, ones(2, 0, 4), ()),
}
QUERY, VALUE, TWICE = (
    ones(2, 3, 4),
    ones(2, 5, 6),
    "in two places. Expected each tensor",
)


class OldBuild(ks.BahdanauAttention):
    """Its build does not know of keys."""

    def build(self, query_shape, value_shape):
        super().build(query_shape, value_shape)


LISTS = {  # and keys
    "BahdanauAttention got": {
        "an unusable list. Expected [query, value] or [query, value, key] as the only "
        "argument without a name, received a list of 1 tensors. Call it as "
        "layer([query, value], mask=[query_mask, value_mask]).": lambda: additive()(
            [QUERY]
        ),
        "an unusable list ... 2 tensors and 1 more": lambda: additive()(
            [QUERY, VALUE], [None, mask(2, 5)]
        ),
        f"value_mask {TWICE} and each mask in a list or by its name, received mask and "
        "value_mask. Keep one of the two.": lambda: additive()(
            [QUERY, VALUE], mask=[None, mask(2, 5)], value_mask=mask(2, 5)
        ),
        f"key {TWICE} ... a list and key": lambda: additive()(
            [QUERY, VALUE, VALUE], key=VALUE
        ),
        "an unusable mask beside a list of tensors. Expected a list [query_mask, "
        "value_mask], where None stands for no mask, received array(": lambda: (
            additive()([QUERY, VALUE], mask=mask(2, 5))
        ),
        "a key as its third argument ... (2, 5, 6) as query_mask. Pass key=": lambda: (
            additive()(QUERY, VALUE, VALUE)
        ),
        "a key that does not fit its value. Expected a key for each position of the "
        "value of shape (2, 5, 6), received a key of shape (2, 4, 6). Give both the "
        "same batch and the same source length.": lambda: attend(key=ones(2, 4, 6)),
        "a key that does not fit ... (2, 4, 6). Give": lambda: built(
            additive()
        ).prepare(VALUE, key=ones(2, 4, 6)),
        "a key of the wrong rank ... (2, 5)": lambda: attend(key=ones(2, 5)),
        "a mask that does not fit a key ... (2, 3). Write `key_mask=": lambda: attend(
            key=VALUE, key_mask=mask(2, 3)
        ),
    },
    "LuongAttention got a key that its scores would not read. Expected query and value "
    "only, received a key of shape (2, 5, 6). Drop key, or use a mechanism that "
    "projects keys, e.g. BahdanauAttention.": lambda: attend(
        attention=ks.LuongAttention("location", maximum_source=9), key=VALUE
    ),
    "LuongAttention got score='dot' for unequal depths ... 4 and 6": lambda: attend(
        attention=ks.LuongAttention("dot"), value=ones(2, 5, 4), key=VALUE
    ),
    "OldBuild got a key of another depth than its value. Expected key_depth = 6, "
    "because its build takes no key_shape, received key_depth = 7. Write "
    "build": lambda: attend(attention=OldBuild(UNITS), key=ones(2, 5, 7)),
}
MASKS = {
    "BahdanauAttention got a mask that does not fit a value of shape (2, 5, 6). "
    "Expected [batch, source] = (2, 5), received shape (2, 3). Write `value_mask=ids "
    "!= 0` with the ids of the source.": lambda: attend(value_mask=mask(2, 3)),
    "BahdanauAttention got a mask that does not fit a query of shape (2, 3, 4). "
    "Expected [batch, target] = (2, 3), received shape (2, 5). Write `query_mask=ids "
    "!= 0` with the ids of the target.": lambda: attend(query_mask=mask(2, 5)),
    "BahdanauAttention got a query_mask for a single query ... shape (2, 4). Drop "
    "it": lambda: attend(ones(2, 4), query_mask=mask(2, 4)),
    "BahdanauAttention got a mask ... shape (2,). For lengths write "
    "tf.sequence_mask(lengths, 5)": lambda: attend(value_mask=np.array([3, 5])),
    "BahdanauAttention got a mask for a value that is not boolean. Expected bool, True "
    "= real, received dtype int32. Write e.g. `value_mask=ids != "
    "0`.": lambda: attend(value_mask=np.ones((2, 5), "int32")),
    "BahdanauAttention got a mask for a value that is not a tensor. Expected bool "
    "[batch, source], True = real, received a list. Write e.g. `value_mask=ids != "
    "0`, or make a tensor with keras.ops.array(mask).": lambda: attend(
        value_mask=mask(2, 5).tolist()
    ),
    "BahdanauAttention got a mask that does not fit a value ... (2, 3). "
    "Write": lambda: attend(
        value=ks.BiEncoder(UNITS)(ones(2, 5, 4)), value_mask=mask(2, 3)
    ),
    "BahdanauAttention got a mask for a value that is not boolean ... "
    "float32. Write e.g. `mask=": lambda: built(additive()).prepare(
        ones(2, 5, 6), ones(2, 5)
    ),
    "AttentionDecoder got": {
        "a mask that does not fit a value of shape (2, 5, 6). Expected [batch, source] "
        "= (2, 5)": lambda: built(decoder()).prepare(ones(2, 5, 6), mask(2, 3)),
        "a mask that ... `inputs_mask=ids != 0`": lambda: decode(
            inputs_mask=mask(2, 5)
        ),
        "a mask for inputs": lambda: decode(inputs_mask=ones(2, 3)),
    },
    "BiEncoder got a mask that does not fit a sequence ... source] = (2, 5), received "
    "shape (2, 3)": lambda: ks.BiEncoder(UNITS)(ones(2, 5, 4), mask=mask(2, 3)),
    "OutputHead got a mask that does not fit outputs ... [batch, target] = (2, "
    "3)": lambda: ks.layers.OutputHead(9)(ones(2, 3, 4), mask=mask(2, 5)),
    "DeepOutputHead got a mask for outputs that is not boolean. Expected "
    "bool, True = real, received dtype float32. Write e.g. `outputs_mask=ids": lambda: (
        ks.layers.DeepOutputHead(9, 4)(
            ones(2, 3, 4), ones(2, 3, 4), outputs_mask=ones(2, 3)
        )
    ),
}
STATES = {
    f"{STATE}. Expected shapes ('batch', 3), received [(2, 3)]. An encoder's state "
    "is a list with one entry per layer: pass it through a bridge, e.g. "
    "CopyBridge()(encoded) for equal sizes, "
    "DenseBridge(decoder.cell.state_size)(encoded) for others.": lambda: decode(
        initial_state=[ones(2, UNITS)]
    ),
    "AttentionDecoder got an initial_state of another batch than its source. Expected "
    "batch = 2, received batch = 1. Pass one state for each source.": lambda: decode(
        initial_state=ones(1, UNITS)
    ),
    "BahdanauAttention.attend got no memory where it needs one. Expected the result of "
    "prepare(value, mask), received memory of type ndarray, state of type tuple. Write "
    "memory = layer.prepare(value, mask) once for a source, and pass memory=memory, "
    "state=state.": lambda: built(additive()).attend(ones(2, 4), ones(2, 5, 6)),
    "AttentionDecoder.step got no memory ... state of type Memory": lambda: built(
        decoder()
    ).step(ones(2, 4), ks.types.Memory(1, 1, 1), ()),
    "AttentionDecoder.initial_state got no memory ... ndarray": lambda: built(
        decoder()
    ).initial_state(ones(2, 5, 6)),
    "AttentionDecoder.step got inputs with other axes than its state. Expected those "
    "of a state of shape (2, 3), received inputs of shape (2, 5, 4). Pass one step, "
    "[batch, embedding]; call the decoder itself on a whole sequence.": lambda: step(
        ones(2, 5, 4)
    ),
    f"{STATE} ... 3), received (2, 7)": lambda: decode(initial_state=ones(2, 7)),
    f"{STATE} ... 3)], received Encoded(values=(2, 5, 6), ": lambda: decode(
        cell=ks.layers.LuongCell(UNITS, additive()),
        initial_state=ks.BiEncoder(UNITS)(ones(2, 5, 4)),
    ),
    f"{STATE} ... [[('batch', 3), ('batch', 3)], [('batch', 3), ": lambda: decode(
        cell=bahdanau_cell("lstm", layers=2), initial_state=[ones(2, UNITS)] * 2
    ),
    "ContextCell got no initial_state ... received None. Pass "
    "initial_state=bridge": lambda: decode(cell=ks.layers.ContextCell(UNITS)),
    "ChoCell got no initial_state": lambda: decode(cell=ks.layers.ChoCell(UNITS)),
    "CoverageAttention got": {
        "a state that does not fit its query. Expected [batch, ..., source] for a "
        "query of shape (2, 4), received (). Start with initial_state(memory), pass on "
        "the state of each result, and give it the axes that the query has (with a "
        "beam: [batch, beam, ...]).": lambda: attend_with_state(()),
        "a state ... (2, 7, 5)": lambda: attend_with_state(ops.ones((2, 7, 5))),
    },
}
PARTS = {
    "BahdanauCell got a part that has its weights already ... a new Bahdanau": lambda: (
        decode(cell=ks.layers.BahdanauCell(UNITS, built(additive())))
    ),
    "BahdanauCell got a part of another dtype ... in bfloat16, received "
    "float32": lambda: decode(
        cell=ks.layers.BahdanauCell(UNITS, additive(), dtype="mixed_bfloat16")
    ),
    "AttentionDecoder.step was called before ... AttentionDecoder 'attention": lambda: (
        decoder().step(ones(2, 4), (), ())
    ),
    "AttentionDecoder.prepare got a symbolic ... (None, 5, 6) ... use "
    "prepare": lambda: built(decoder()).prepare(keras.Input((5, 6))),
    "BahdanauAttention.attend got a symbolic KerasTensor ... use attend "
    "inside": lambda: additive().attend(
        ones(2, 4), ks.types.Memory(*[keras.Input((5, 6))] * 3)
    ),
}
CALLS = [RANKS, LISTS, MASKS, STATES, PARTS]
