"""Bad calls: name, call, and what is said, word for word (`...`: anything)."""

import keras
import numpy as np
from keras import ops

import keras_seqattn as ks
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.output_head import OutputHead
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

_RANK = "Add or drop an axis, or check the order of the arguments."
_BRIDGE = (
    "An encoder's state is a list with one entry per layer: pass it through a bridge, "
    "e.g. CopyBridge()(encoded) for equal sizes, "
    "DenseBridge(decoder.cell.state_size)(encoded) for others."
)
_NOT_TARGET = "If the mask belongs to the target, pass it to the decoder instead."
_NOT_SOURCE = "If the mask belongs to the source, pass it as value_mask instead."
_PAST = (
    "Start with initial_state(memory), pass on the state of each result, and give it "
    "the axes that the query has (with a beam: [batch, beam, ...])."
)


def attend_with_state(state):
    attention = built(ks.layers.CoverageAttention(UNITS))
    return attention.attend(ones(2, 4), attention.prepare(ones(2, 5, 6)), state)


CALLS = [
    # Ranks and lengths.
    (
        "query of rank 1",
        lambda: attend(ones(4)),
        "BahdanauAttention got a query of the wrong rank. Expected [batch, "
        f"query_depth] or [batch, target, query_depth], received shape (4,). {_RANK}",
    ),
    (
        "query of rank 4",
        lambda: attend(ones(2, 3, 4, 5)),
        "BahdanauAttention got a query of the wrong rank. Expected [batch, "
        "query_depth] or [batch, target, query_depth], received shape (2, 3, 4, 5). "
        f"{_RANK}",
    ),
    (
        "value of rank 2",
        lambda: attend(value=ones(2, 6)),
        "BahdanauAttention got a value of the wrong rank. Expected [batch, source, "
        f"memory_depth], received shape (2, 6). {_RANK}",
    ),
    (
        "prepared value of rank 2",
        lambda: built(decoder()).prepare(ones(2, 6)),
        "AttentionDecoder got a value of the wrong rank. Expected [batch, source, "
        f"memory_depth], received shape (2, 6). {_RANK}",
    ),
    (
        "decoder inputs of rank 2",
        lambda: decode(ones(2, 4)),
        "AttentionDecoder got inputs of the wrong rank. Expected [batch, target, "
        f"embedding], received shape (2, 4). {_RANK}",
    ),
    (
        "encoder inputs of rank 2",
        lambda: BiEncoder(UNITS)(ones(2, 4)),
        "BiEncoder got a sequence of the wrong rank. Expected [batch, source, "
        f"depth], received shape (2, 4). {_RANK}",
    ),
    (
        "no source",
        lambda: attend(value=ones(2, 0, 6)),
        "BahdanauAttention got a value without source positions. Expected [batch, "
        "source, memory_depth] with source >= 1, received shape (2, 0, 6). For an "
        "empty sentence pass one padded position and a mask that is False there: the "
        "alignment is then zero.",
    ),
    (
        "no source, symbolic",
        lambda: decode(keras.Input((3, 4)), keras.Input((0, 6))),
        "AttentionDecoder got a value without source positions. Expected [batch, "
        "source, memory_depth] with source >= 1, received shape (None, 0, 6). For an "
        "empty sentence pass one padded position and a mask that is False there: the "
        "alignment is then zero.",
    ),
    (
        "no source, prepared",
        lambda: built(additive()).prepare(ones(2, 0, 6)),
        "BahdanauAttention got a value without source positions. Expected [batch, "
        "source, memory_depth] with source >= 1, received shape (2, 0, 6). For an "
        "empty sentence pass one padded position and a mask that is False there: the "
        "alignment is then zero.",
    ),
    (
        "no source, encoder",
        lambda: BiEncoder(UNITS)(ones(2, 0, 4)),
        "BiEncoder got inputs without source positions. Expected [batch, source, "
        "depth] with source >= 1, received shape (2, 0, 4). For an empty sentence "
        "pass one padded position and a mask that is False there: values and states "
        "are then zero.",
    ),
    (
        "unknown length, unrolled",
        lambda: static_unroll(None, keras.Input((None, 4)), ()),
        "static_unroll got inputs of unknown length. Expected a static time axis, "
        "received shapes (None, None, 4). Use dynamic_unroll (unroll=False) for "
        "lengths known only at run time.",
    ),
    (
        "no steps",
        lambda: decode(ones(2, 0, 4)),
        "AttentionDecoder got inputs without target positions. Expected [batch, "
        "target, depth] with target >= 1, received shape (2, 0, 4). Pass at least one "
        "position, masked if it is not real.",
    ),
    (
        "no queries",
        lambda: attend(ones(2, 0, 4)),
        "BahdanauAttention got a query without target positions. Expected [batch, "
        "target, depth] with target >= 1, received shape (2, 0, 4). Pass at least one "
        "position, masked if it is not real.",
    ),
    (
        "nothing to unroll",
        lambda: static_unroll(None, ones(2, 0, 4), ()),
        "static_unroll got inputs without a single step. Expected time >= 1, "
        "received shapes (2, 0, 4). Pass at least one position, masked if it is not "
        "real.",
    ),
    (
        "part with an owner",
        lambda: decode(cell=ks.layers.BahdanauCell(UNITS, built(additive()))),
        "BahdanauCell got a part that has its weights already. Expected a new "
        "BahdanauAttention, received 'bahdanau_attention...' with built=True. Make one "
        "for every owner; to share weights, call the whole layer twice.",
    ),
    (
        "part of another dtype",
        lambda: decode(
            cell=ks.layers.BahdanauCell(UNITS, additive(), dtype="mixed_bfloat16")
        ),
        "BahdanauCell got a part of another dtype. Expected BahdanauAttention to "
        "compute in bfloat16, received float32. Give both the same dtype, or none and "
        "keras.config.set_dtype_policy(...).",
    ),
    # Masks.
    (
        "value mask of the target",
        lambda: attend(value_mask=mask(2, 3)),
        "BahdanauAttention got a mask that does not fit a value of shape (2, 5, 6). "
        "Expected [batch, source] = (2, 5), received shape (2, 3). "
        f"{_NOT_TARGET}",
    ),
    (
        "query mask of the source",
        lambda: attend(query_mask=mask(2, 5)),
        "BahdanauAttention got a mask that does not fit a query of shape (2, 3, 4). "
        "Expected [batch, target] = (2, 3), received shape (2, 5). "
        f"{_NOT_SOURCE}",
    ),
    (
        "mask for a single query",
        lambda: attend(ones(2, 4), query_mask=mask(2, 4)),
        "BahdanauAttention got a query_mask for a single query. Expected None with a "
        "query [batch, query_depth], received a mask of shape (2, 4). Drop it, or "
        "give the query a target axis.",
    ),
    (
        "mask of rank 1",
        lambda: attend(value_mask=mask(2)),
        "BahdanauAttention got a mask that does not fit a value of shape (2, 5, 6). "
        "Expected [batch, source] = (2, 5), received shape (2,). "
        f"{_NOT_TARGET}",
    ),
    (
        "mask of numbers",
        lambda: attend(value_mask=np.ones((2, 5), "int32")),
        "BahdanauAttention got a mask for a value that is not boolean. Expected "
        "bool, True = real, received dtype int32. Write e.g. `mask=ids != 0`.",
    ),
    (
        "prepared mask of numbers",
        lambda: built(additive()).prepare(ones(2, 5, 6), ones(2, 5)),
        "BahdanauAttention got a mask for a value that is not boolean. Expected "
        "bool, True = real, received dtype float32. Write e.g. `mask=ids != 0`.",
    ),
    (
        "prepared mask of the target",
        lambda: built(decoder()).prepare(ones(2, 5, 6), mask(2, 3)),
        "AttentionDecoder got a mask that does not fit a value of shape (2, 5, 6). "
        "Expected [batch, source] = (2, 5), received shape (2, 3). "
        f"{_NOT_TARGET}",
    ),
    (
        "inputs mask of the source",
        lambda: decode(inputs_mask=mask(2, 5)),
        "AttentionDecoder got a mask that does not fit inputs of shape (2, 3, 4). "
        "Expected [batch, target] = (2, 3), received shape (2, 5). "
        f"{_NOT_SOURCE}",
    ),
    (
        "inputs mask of numbers",
        lambda: decode(inputs_mask=ones(2, 3)),
        "AttentionDecoder got a mask for inputs that is not boolean. Expected bool, "
        "True = real, received dtype float32. Write e.g. `mask=ids != 0`.",
    ),
    (
        "encoder mask of the target",
        lambda: BiEncoder(UNITS)(ones(2, 5, 4), mask=mask(2, 3)),
        "BiEncoder got a mask that does not fit a sequence of shape (2, 5, 4). "
        "Expected [batch, source] = (2, 5), received shape (2, 3). "
        f"{_NOT_TARGET}",
    ),
    (
        "head mask of the source",
        lambda: OutputHead(9)(ones(2, 3, 4), mask=mask(2, 5)),
        "OutputHead got a mask that does not fit outputs of shape (2, 3, 4). "
        "Expected [batch, target] = (2, 3), received shape (2, 5). "
        f"{_NOT_SOURCE}",
    ),
    (
        "head mask of numbers",
        lambda: DeepOutputHead(9, 4)(
            ones(2, 3, 4), ones(2, 3, 4), outputs_mask=ones(2, 3)
        ),
        "DeepOutputHead got a mask for outputs that is not boolean. Expected bool, "
        "True = real, received dtype float32. Write e.g. `mask=ids != 0`.",
    ),
    # States.
    (
        "state in a list",
        lambda: decode(initial_state=[ones(2, UNITS)]),
        "AttentionDecoder got an initial_state of another structure than its cell's. "
        f"Expected shapes ('batch', 3), received [(2, 3)]. {_BRIDGE}",
    ),
    (
        "state of another size",
        lambda: decode(initial_state=ones(2, 7)),
        "AttentionDecoder got an initial_state of another structure than its cell's. "
        f"Expected shapes ('batch', 3), received (2, 7). {_BRIDGE}",
    ),
    (
        "encoded in place of a state",
        lambda: decode(
            cell=ks.layers.LuongCell(UNITS, additive()),
            initial_state=BiEncoder(UNITS)(ones(2, 5, 4)),
        ),
        "AttentionDecoder got an initial_state of another structure than its cell's. "
        "Expected shapes [('batch', 3), ('batch', 3)], received Encoded(values=(2, "
        f"5, 6), mask=(2, 5), state=[[(2, 6), (2, 6)]]). {_BRIDGE}",
    ),
    (
        "state of one layer for two",
        lambda: decode(
            cell=bahdanau_cell("lstm", layers=2),
            initial_state=[ones(2, UNITS), ones(2, UNITS)],
        ),
        "AttentionDecoder got an initial_state of another structure than its cell's. "
        "Expected shapes [[('batch', 3), ('batch', 3)], [('batch', 3), ('batch', "
        f"3)]], received [(2, 3), (2, 3)]. {_BRIDGE}",
    ),
    (
        "no state for ContextCell",
        lambda: decode(cell=ks.layers.ContextCell(UNITS)),
        "ContextCell got no initial_state. Expected the final state of the "
        "encoder: it is all that this decoder knows of the source, received "
        "None. Pass initial_state=bridge(encoded), e.g. CopyBridge()(encoded).",
    ),
    (
        "no state for ChoCell",
        lambda: decode(cell=ks.layers.ChoCell(UNITS)),
        "ChoCell got no initial_state. Expected the final state of the "
        "encoder: it is all that this decoder knows of the source, received "
        "None. Pass initial_state=bridge(encoded), e.g. CopyBridge()(encoded).",
    ),
    (
        "no coverage",
        lambda: attend_with_state(()),
        "CoverageAttention got a state that does not fit its query. Expected [batch, "
        f"..., source] for a query of shape (2, 4), received (). {_PAST}",
    ),
    (
        "coverage with a beam for a query without",
        lambda: attend_with_state(ops.ones((2, 7, 5))),
        "CoverageAttention got a state that does not fit its query. Expected [batch, "
        f"..., source] for a query of shape (2, 4), received (2, 7, 5). {_PAST}",
    ),
    # Step verbs.
    (
        "step of an unbuilt decoder",
        lambda: decoder().step(ones(2, 4), (), ()),
        "AttentionDecoder.step was called before the layer has weights. Expected a "
        "built layer, received AttentionDecoder 'attention_decoder...' with "
        "built=False. Call the layer once on a whole sequence, or its build(...) with "
        "shapes.",
    ),
    (
        "symbolic prepare",
        lambda: built(decoder()).prepare(keras.Input((5, 6))),
        "AttentionDecoder.prepare got a symbolic KerasTensor. Expected a real "
        "tensor: a Functional model would silently lose the weights, received "
        "<KerasTensor shape=(None, 5, 6), ...>. Call the layer itself there, "
        "and use prepare inside a layer's call or a tf.function.",
    ),
    (
        "symbolic memory",
        lambda: additive().attend(
            ones(2, 4), ks.types.Memory(*[keras.Input((5, 6))] * 3)
        ),
        "BahdanauAttention.attend got a symbolic KerasTensor. Expected a real "
        "tensor: a Functional model would silently lose the weights, received "
        "<KerasTensor shape=(None, 5, 6), ...>. Call the layer itself there, "
        "and use attend inside a layer's call or a tf.function.",
    ),
]
